#include "faulty_vulkan.hpp"

#include <quadtile/device.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <iterator>
#include <map>
#include <mutex>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace quadtile::test::faulty_vulkan {

namespace {

// Everything that the library calls, without "vk". Those that return a VkResult can fail.
#define QUADTILE_FUNCTIONS(X)                                                                      \
    X(AllocateCommandBuffers), X(AllocateDescriptorSets), X(AllocateMemory),                       \
        X(BeginCommandBuffer), X(BindBufferMemory), X(BindImageMemory),                            \
        X(CmdBeginDebugUtilsLabelEXT), X(CmdBindDescriptorSets), X(CmdBindPipeline),               \
        X(CmdBlitImage), X(CmdCopyBuffer), X(CmdCopyBufferToImage), X(CmdCopyImage),               \
        X(CmdCopyImageToBuffer), X(CmdDispatch), X(CmdDispatchIndirect),                           \
        X(CmdEndDebugUtilsLabelEXT), X(CmdFillBuffer), X(CmdPipelineBarrier), X(CmdPushConstants), \
        X(CmdResetQueryPool), X(CmdUpdateBuffer), X(CmdWriteTimestamp), X(CreateBuffer),           \
        X(CreateCommandPool), X(CreateComputePipelines), X(CreateDebugUtilsMessengerEXT),          \
        X(CreateDescriptorPool), X(CreateDescriptorSetLayout), X(CreateDevice), X(CreateFence),    \
        X(CreateImage), X(CreateImageView), X(CreateInstance), X(CreatePipelineCache),             \
        X(CreatePipelineLayout), X(CreateQueryPool), X(CreateSampler), X(CreateShaderModule),      \
        X(DestroyBuffer), X(DestroyCommandPool), X(DestroyDebugUtilsMessengerEXT),                 \
        X(DestroyDescriptorPool), X(DestroyDescriptorSetLayout), X(DestroyDevice),                 \
        X(DestroyFence), X(DestroyImage), X(DestroyImageView), X(DestroyInstance),                 \
        X(DestroyPipeline), X(DestroyPipelineCache), X(DestroyPipelineLayout),                     \
        X(DestroyQueryPool), X(DestroySampler), X(DestroyShaderModule), X(EndCommandBuffer),       \
        X(EnumerateDeviceExtensionProperties), X(EnumerateInstanceExtensionProperties),            \
        X(EnumerateInstanceLayerProperties), X(EnumeratePhysicalDevices), X(FreeMemory),           \
        X(GetBufferMemoryRequirements), X(GetDeviceQueue), X(GetFenceStatus),                      \
        X(GetImageMemoryRequirements), X(GetPhysicalDeviceFeatures),                               \
        X(GetPhysicalDeviceFeatures2), X(GetPhysicalDeviceFormatProperties),                       \
        X(GetPhysicalDeviceImageFormatProperties), X(GetPhysicalDeviceMemoryProperties),           \
        X(GetPhysicalDeviceProperties), X(GetPhysicalDeviceProperties2),                           \
        X(GetPhysicalDeviceQueueFamilyProperties), X(GetPipelineCacheData),                        \
        X(GetQueryPoolResults), X(MapMemory), X(QueueSubmit), X(ResetCommandBuffer),               \
        X(ResetFences), X(SetDebugUtilsObjectNameEXT), X(UpdateDescriptorSets), X(WaitForFences)

#define QUADTILE_NAME(name) name
enum class Function : std::size_t { QUADTILE_FUNCTIONS(QUADTILE_NAME) };
#undef QUADTILE_NAME
#define QUADTILE_NAME(name) "vk" #name
constexpr std::string_view NAMES[] = {QUADTILE_FUNCTIONS(QUADTILE_NAME)};
#undef QUADTILE_NAME

// Returns the kind of object that a function makes or destroys, by the function's name; empty:
// none. Command buffers and descriptor sets are destroyed with their pools.
constexpr std::string_view kind_of(Function function, std::string_view verb) {
    const std::string_view name = NAMES[static_cast<std::size_t>(function)];
    if (function == Function::AllocateMemory || function == Function::FreeMemory) {
        return (verb == "vkCreate") == (function == Function::AllocateMemory) ? "DeviceMemory" : "";
    }
    return !name.starts_with(verb)                        ? ""
           : function == Function::CreateComputePipelines ? "Pipeline"
                                                          : name.substr(verb.size());
}

constexpr std::string_view FEATURES = VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME;
constexpr auto IS_FEATURES = [](std::string_view name) { return name == FEATURES; };

// Tells whether a function reports a lost device by the specification, if the library calls it.
constexpr bool tells_of_loss(Function function) {
    return function == Function::CreateDevice || function == Function::QueueSubmit ||
           function == Function::WaitForFences || function == Function::GetFenceStatus ||
           function == Function::GetQueryPoolResults;
}

template <typename Handle>
std::uint64_t number_of(Handle handle) {
    return reinterpret_cast<std::uint64_t>(handle);  // pointers, on the 64-bit systems of the tests
}

struct Object {
    std::uint64_t handle;
    std::string_view kind;

    auto operator<=>(const Object&) const = default;
};

struct Origin {
    std::uint64_t parent;  // the device, the physical device, the instance, or 0
    std::uint64_t number;  // in the order of their making
};

struct State : Control {
    PFN_vkGetInstanceProcAddr real_entry = nullptr;
    std::array<std::atomic<PFN_vkVoidFunction>, std::size(NAMES)> real{};
    std::atomic<VkInstance> instance = VK_NULL_HANDLE;  // the last one
    std::atomic<PFN_vkGetDeviceProcAddr> real_get_device_proc_addr = nullptr;
    std::atomic<PFN_vkDeviceWaitIdle> real_wait_idle = nullptr;
    std::mutex queue_mutex;  // of the real queues, while the device is settled

    std::mutex mutex;
    std::vector<Function> calls;
    std::uint64_t counted = 0;  // of the calls, those that the fault may befall
    std::optional<Fault> fault;
    bool lost = false;
    VkResult held = VK_SUCCESS;  // what waits return
    std::condition_variable released;
    std::multimap<Object, Origin> objects;
    std::uint64_t objects_made = 0;
    std::map<VkShaderModule, std::string> modules;        // their code
    std::map<std::string, VkPipeline> pipelines;          // see make_pipeline
    std::map<VkDevice, std::vector<VkPipeline>> devices;  // with the pipelines made for them
};

State& state() {
    static auto* const STATE = new State;  // for ever: threads may end after main does
    return *STATE;
}

Locked<State> locked() {
    return {std::unique_lock(state().mutex), &state()};
}

// Returns the result of a call that must fail; VK_SUCCESS: the call goes on.
VkResult enter(Function function, VkDevice device) {
    State& s = state();
    VkResult result = VK_SUCCESS;
    {
        const std::lock_guard lock(s.mutex);
        // A thread that asks again and again counts as one call.
        thread_local std::optional<Function> last;
        const bool asks_again = last == function && function == Function::GetFenceStatus;
        last = function;
        if (!asks_again) {
            s.calls.push_back(function);
        }
        const bool can_fail = !asks_again && s.fault &&
                              (s.fault->result != VK_ERROR_DEVICE_LOST || tells_of_loss(function));
        s.counted += can_fail ? 1 : 0;
        if (can_fail && s.counted == s.fault->call) {
            s.failed_function = NAMES[static_cast<std::size_t>(function)];
            result = s.fault->result;
            s.lost = result == VK_ERROR_DEVICE_LOST;
        } else if (s.lost && tells_of_loss(function)) {
            result = VK_ERROR_DEVICE_LOST;
        }
    }
    // A device that is lost works no more; the real one must not, either.
    if (result == VK_ERROR_DEVICE_LOST && device != VK_NULL_HANDLE) {
        const std::lock_guard lock(s.queue_mutex);
        (void)s.real_wait_idle.load()(device);
    }
    return result;
}

void note_made(std::string_view kind, std::uint64_t handle, std::uint64_t parent) {
    const auto s = locked();
    s->objects.emplace(Object{handle, kind}, Origin{parent, s->objects_made++});
}

void note_destroyed(std::string_view kind, std::uint64_t handle) {
    if (handle == 0) {
        return;
    }
    const auto s = locked();
    const auto found = s->objects.find({handle, kind});
    if (found == s->objects.end()) {
        s->mistakes.push_back("a " + std::string(kind) +
                              " was destroyed that is not there (any more)");
        return;
    }
    s->objects.erase(found);
    for (const auto& [object, origin] : s->objects) {
        if (origin.parent == handle) {
            s->mistakes.push_back("a " + std::string(kind) + " was destroyed before a " +
                                  std::string(object.kind) + " that was made from it");
        }
    }
}

template <typename Pointer>
Pointer real_of(Function function) {
    return reinterpret_cast<Pointer>(state().real[static_cast<std::size_t>(function)].load());
}

template <typename T>
void append(std::string& key, const T* values, std::size_t size_bytes) {
    key.append(reinterpret_cast<const char*>(values), size_bytes);
}

// Compiling takes CPU drivers nearly all the time of a run, and hundreds of runs compile the same.
// So each pipeline is made once for each device and handed out again; DestroyPipeline only counts.
// A kernel always comes with the same layout, so the pipelines fit the layouts of later runs.
VkResult make_pipeline(VkDevice device, VkPipelineCache cache, std::uint32_t count,
                       const VkComputePipelineCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkPipeline* pipeline) {
    State& s = state();
    const VkPipelineShaderStageCreateInfo& stage = info->stage;
    const VkSpecializationInfo& constants = *stage.pSpecializationInfo;
    const std::lock_guard lock(s.mutex);
    std::string key = s.modules.at(stage.module);
    key += std::to_string(number_of(device));
    append(key, &stage.flags, sizeof(stage.flags));
    append(key, constants.pMapEntries, constants.mapEntryCount * sizeof(*constants.pMapEntries));
    append(key, static_cast<const char*>(constants.pData), constants.dataSize);
    const auto known = s.pipelines.find(key);
    if (known != s.pipelines.end()) {
        *pipeline = known->second;
        return VK_SUCCESS;
    }
    const VkResult result = real_of<PFN_vkCreateComputePipelines>(Function::CreateComputePipelines)(
        device, cache, count, info, allocator, pipeline);
    if (result == VK_SUCCESS) {
        s.pipelines.emplace(std::move(key), *pipeline);
        s.devices[device].push_back(*pipeline);
    }
    return result;
}

void destroy_pipelines_of(VkDevice device) {
    const auto s = locked();
    for (const VkPipeline pipeline : s->devices[device]) {
        real_of<PFN_vkDestroyPipeline>(Function::DestroyPipeline)(device, pipeline, nullptr);
        std::erase_if(s->pipelines, [&](const auto& known) { return known.second == pipeline; });
    }
    s->devices.erase(device);
}

// Returns the result of a wait of this time; VK_SUCCESS if it is not held, or no longer.
VkResult held_for(std::uint64_t nanoseconds) {
    State& s = state();
    std::unique_lock lock(s.mutex);
    constexpr std::uint64_t LONGEST = 3'600'000'000'000;
    (void)s.released.wait_for(lock, std::chrono::nanoseconds(std::min(nanoseconds, LONGEST)),
                              [&] { return s.held != VK_TIMEOUT; });
    return s.held;
}

// The function that the library gets, of the type of the real one.
template <Function FUNCTION, typename Pointer>
struct Wrapped;

template <Function FUNCTION, typename Result, typename... Arguments>
struct Wrapped<FUNCTION, Result(VKAPI_PTR*)(Arguments...)> {
    using Given = std::tuple<Arguments...>;
    using First = std::tuple_element_t<0, Given>;

    static Result VKAPI_CALL call(Arguments... arguments) {
        const Given given(arguments...);
        if constexpr (std::is_void_v<Result>) {
            before(given);
            if constexpr (FUNCTION != Function::DestroyPipeline) {
                real_of<Result(VKAPI_PTR*)(Arguments...)>(FUNCTION)(arguments...);
            }
            pretend(given);
        } else {
            static_assert(std::is_same_v<Result, VkResult>);
            VkDevice device = VK_NULL_HANDLE;
            if constexpr (std::is_same_v<First, VkDevice>) {
                device = std::get<0>(given);
            }
            if (const VkResult fault = enter(FUNCTION, device); fault != VK_SUCCESS) {
                return fault;
            }
            const VkResult result = go_on(arguments...);
            if (result == VK_SUCCESS) {
                after(given);
            }
            return result;
        }
    }

 private:
    static void before(const Given& given) {
        if constexpr (constexpr auto KIND = kind_of(FUNCTION, "vkDestroy"); !KIND.empty()) {
            // A device and an instance come first, all others behind what they were made from.
            constexpr std::size_t WHICH = sizeof...(Arguments) == 2 ? 0 : 1;
            note_destroyed(KIND, number_of(std::get<WHICH>(given)));
        }
        if constexpr (FUNCTION == Function::DestroyDevice) {
            destroy_pipelines_of(std::get<0>(given));
        }
    }

    static VkResult go_on(Arguments... arguments) {
        const auto real = real_of<Result(VKAPI_PTR*)(Arguments...)>(FUNCTION);
        if constexpr (FUNCTION == Function::WaitForFences) {
            const Given given(arguments...);
            const VkResult held = held_for(std::get<4>(given));
            return held != VK_SUCCESS ? held : real(arguments...);
        } else if constexpr (FUNCTION == Function::GetFenceStatus) {
            const VkResult held = held_for(0);
            return held == VK_TIMEOUT   ? VK_NOT_READY
                   : held != VK_SUCCESS ? held
                                        : real(arguments...);
        } else if constexpr (FUNCTION == Function::QueueSubmit) {
            const std::lock_guard lock(state().queue_mutex);
            return real(arguments...);
        } else if constexpr (FUNCTION == Function::CreateComputePipelines) {
            return make_pipeline(arguments...);
        } else if constexpr (FUNCTION == Function::CreateShaderModule) {
            return make_module(arguments...);
        } else if constexpr (FUNCTION == Function::AllocateMemory) {
            return allocate(arguments...);
        } else {
            return real(arguments...);
        }
    }

    static VkResult make_module(VkDevice device, const VkShaderModuleCreateInfo* info,
                                const VkAllocationCallbacks* callbacks, VkShaderModule* made) {
        const auto s = locked();
        const std::vector<std::uint32_t> words =
            with_lie({info->pCode, info->pCode + info->codeSize / sizeof(std::uint32_t)}, s->lie);
        VkShaderModuleCreateInfo told = *info;
        told.pCode = words.data();
        told.codeSize = words.size() * sizeof(std::uint32_t);
        const VkResult result =
            real_of<PFN_vkCreateShaderModule>(FUNCTION)(device, &told, callbacks, made);
        if (result == VK_SUCCESS) {
            std::string& code = s->modules[*made];
            code.clear();
            append(code, told.pCode, told.codeSize);
        }
        return result;
    }

    static VkResult allocate(VkDevice device, const VkMemoryAllocateInfo* info,
                             const VkAllocationCallbacks* callbacks, VkDeviceMemory* memory) {
        VkMemoryAllocateInfo real_info = *info;
        {
            const auto s = locked();
            const bool pretends = s->host_memory != HostMemory::real;
            real_info.memoryTypeIndex = pretends ? 0 : info->memoryTypeIndex;
            s->from_host.push_back(pretends && info->memoryTypeIndex == 0);
        }
        return real_of<PFN_vkAllocateMemory>(FUNCTION)(device, &real_info, callbacks, memory);
    }

    static void after(const Given& given) {
        if constexpr (constexpr auto KIND = kind_of(FUNCTION, "vkCreate"); !KIND.empty()) {
            const auto* const made = std::get<sizeof...(Arguments) - 1>(given);
            note_made(KIND, number_of(*made),
                      FUNCTION == Function::CreateInstance ? 0 : number_of(std::get<0>(given)));
        }
        if constexpr (FUNCTION == Function::EnumerateInstanceExtensionProperties) {
            VkExtensionProperties* const all = std::get<2>(given);
            for (std::uint32_t i = 0; all != nullptr && i < *std::get<1>(given); ++i) {
                if (all[i].extensionName == FEATURES && !locked()->offers_features) {
                    all[i].extensionName[0] = '-';
                }
            }
        }
        if constexpr (FUNCTION == Function::CreateInstance) {
            const VkInstanceCreateInfo& info = *std::get<0>(given);
            const std::span names(info.ppEnabledExtensionNames, info.enabledExtensionCount);
            const auto* const next = static_cast<const VkBaseInStructure*>(info.pNext);
            const bool is_used =
                next != nullptr && next->sType == VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT;
            const auto s = locked();
            const bool is_expected = s->offers_features && info.enabledLayerCount > 0;
            if (is_used != is_expected || is_used != std::ranges::any_of(names, IS_FEATURES)) {
                s->mistakes.emplace_back("validation features are used or enabled wrongly");
            }
        }
        if constexpr (FUNCTION == Function::CreateDescriptorSetLayout) {
            const VkDescriptorSetLayoutCreateInfo& info = *std::get<1>(given);
            std::uint32_t images = 0;
            for (std::uint32_t i = 0; i < info.bindingCount; ++i) {
                if (info.pBindings[i].descriptorType == VK_DESCRIPTOR_TYPE_STORAGE_IMAGE) {
                    images += info.pBindings[i].descriptorCount;
                }
            }
            const auto s = locked();
            if (s->most_storage_images != 0 && images > s->most_storage_images) {
                s->mistakes.push_back("a set has " + std::to_string(images) + " storage images");
            }
        }
    }

    static void pretend(const Given& given) {
        if constexpr (FUNCTION == Function::GetPhysicalDeviceProperties) {
            pretend(*std::get<1>(given));
        }
        if constexpr (FUNCTION == Function::GetPhysicalDeviceProperties2) {
            pretend(std::get<1>(given)->properties);
        }
        if constexpr (FUNCTION == Function::GetPhysicalDeviceMemoryProperties) {
            pretend(*std::get<1>(given));
        }
        if constexpr (FUNCTION == Function::GetBufferMemoryRequirements) {
            std::get<2>(given)->memoryTypeBits |= locked()->host_memory == HostMemory::real ? 0 : 2;
        }
    }

    // Both CPU drivers have one type, which is everything at once. Types with fewer properties come
    // first.
    static void pretend(VkPhysicalDeviceMemoryProperties& memory) {
        const auto s = locked();
        if (s->host_memory == HostMemory::real) {
            return;
        }
        const VkDeviceSize size = memory.memoryHeaps[0].size;
        memory.memoryHeaps[1] = {size, 0};
        memory.memoryTypes[1] = memory.memoryTypes[0];
        memory.memoryTypes[0].heapIndex = 1;
        memory.memoryTypes[0].propertyFlags &=
            ~VkMemoryPropertyFlags{VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT};
        memory.memoryTypeCount = 2;
        memory.memoryHeapCount = 2;
        if (s->host_memory == HostMemory::beside_window) {
            memory.memoryHeaps[2] = {2 * size, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT};
            memory.memoryHeapCount = 3;
        }
    }

    static void pretend(VkPhysicalDeviceProperties& properties) {
        const auto s = locked();
        if (s->pretends_gpu) {
            properties.deviceType = VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU;
        }
        if (const std::uint32_t most = s->most_storage_images; most != 0) {
            properties.limits.maxPerStageDescriptorStorageImages = most;
        }
    }
};

PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name);
PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char* name);

// Returns the library's function for one that the loader or the driver has.
PFN_vkVoidFunction wrapped(std::string_view name, PFN_vkVoidFunction real) {
    State& s = state();
    if (real == nullptr) {
        return nullptr;
    }
    if (name == "vkGetInstanceProcAddr") {
        return reinterpret_cast<PFN_vkVoidFunction>(get_instance_proc_addr);
    }
    if (name == "vkGetDeviceProcAddr") {
        s.real_get_device_proc_addr = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
        return reinterpret_cast<PFN_vkVoidFunction>(get_device_proc_addr);
    }
    if (name == "vkDeviceWaitIdle") {
        s.real_wait_idle = reinterpret_cast<PFN_vkDeviceWaitIdle>(real);
    }
#define QUADTILE_WRAPPER(name) \
    reinterpret_cast<PFN_vkVoidFunction>(Wrapped<Function::name, PFN_vk##name>::call)
    static const std::array WRAPPERS{QUADTILE_FUNCTIONS(QUADTILE_WRAPPER)};
#undef QUADTILE_WRAPPER
    const auto* const found = std::ranges::find(NAMES, name);
    if (found == std::end(NAMES)) {
        return nullptr;  // whoever calls it crashes: it belongs in the list
    }
    const auto i = static_cast<std::size_t>(found - std::begin(NAMES));
    s.real[i] = real;
    return WRAPPERS[i];
}

// Always the loader's functions, which serve all instances and devices.
PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name) {
    State& s = state();
    const bool exists = s.real_get_device_proc_addr.load()(device, name) != nullptr;
    return exists ? wrapped(name, s.real_entry(s.instance, name)) : nullptr;
}

PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char* name) {
    State& s = state();
    if (instance != VK_NULL_HANDLE) {
        s.instance = instance;
    }
    return wrapped(name, s.real_entry(instance, name));
}

}  // namespace

PFN_vkGetInstanceProcAddr entry() {
    state().real_entry = Device::create().get_instance_proc_addr();
    return get_instance_proc_addr;
}

Locked<Control> control() {
    return {std::unique_lock(state().mutex), &state()};
}

void start(std::optional<Fault> fault) {
    const auto s = locked();
    s->calls.clear();
    s->counted = 0;
    s->fault = fault;
    s->failed_function.clear();
    s->lost = false;
}

void recover() {
    const auto s = locked();
    s->fault.reset();
    s->lost = false;
}

std::vector<std::string> calls() {
    const auto s = locked();
    std::vector<std::string> names;
    for (const Function function : s->calls) {
        names.emplace_back(NAMES[static_cast<std::size_t>(function)]);
    }
    return names;
}

void hold(VkResult waits_return) {
    const auto s = locked();
    s->held = waits_return;
}

void release() {
    const auto s = locked();
    s->held = VK_SUCCESS;
    s->released.notify_all();
}

std::string alive() {
    const auto s = locked();
    std::map<std::string, std::size_t> counts;
    for (const auto& [object, origin] : s->objects) {
        ++counts[std::string(object.kind)];
    }
    std::string text;
    for (const auto& [kind, count] : counts) {
        text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + kind;
    }
    return text;
}

std::uint64_t mark() {
    const auto s = locked();
    return s->objects_made;
}

void forget_since(std::uint64_t mark) {
    const auto s = locked();
    std::erase_if(s->objects, [&](const auto& object) { return object.second.number >= mark; });
}

}  // namespace quadtile::test::faulty_vulkan
