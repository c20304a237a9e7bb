#include "support/guarded_memory.hpp"

#include <quadtile/device.hpp>

#ifdef _WIN32
#include <windows.h>
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(first, size) (static_cast<void>(first), static_cast<void>(size))
#define ASAN_UNPOISON_MEMORY_REGION(first, size) (static_cast<void>(first), static_cast<void>(size))
#endif

namespace quadtile::test::guarded_memory {

namespace {

constexpr std::byte PATTERN{0xcd};

#ifdef _WIN32
std::size_t page_bytes() {
    return 4096;
}
// Returns pages that nobody may touch, or null.
void* reserve(std::size_t size) {
    return ::VirtualAlloc(nullptr, size, MEM_RESERVE, PAGE_NOACCESS);
}
bool allow(void* first, std::size_t size) {
    return ::VirtualAlloc(first, size, MEM_COMMIT, PAGE_READWRITE) != nullptr;
}
void release(void* first, std::size_t /*size*/) {
    ::VirtualFree(first, 0, MEM_RELEASE);
}
#else
std::size_t page_bytes() {
    static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    return size;
}
void* reserve(std::size_t size) {
    void* const first =
        ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return first == MAP_FAILED ? nullptr : first;
}
bool allow(void* first, std::size_t size) {
    return ::mprotect(first, size, PROT_READ | PROT_WRITE) == 0;
}
void release(void* first, std::size_t size) {
    (void)::munmap(first, size);
}
#endif

// Whole pages, a guard before and behind them, and a buffer at their end.
struct Pages {
    std::byte* first;          // the guard before them
    std::size_t size;          // without the guards
    VkDeviceSize offset;       // of the buffer
    VkDeviceSize buffer_size;  // what it asked for

    [[nodiscard]] std::byte* begin() const { return first + page_bytes(); }
    [[nodiscard]] std::byte* buffer() const { return begin() + offset; }
    [[nodiscard]] std::byte* end() const { return begin() + size; }
};

// A buffer whose memory this thread will allocate next.
struct Wanted {
    VkDeviceSize buffer_size;
    VkMemoryRequirements needed;
};
thread_local std::optional<Wanted> wanted;

struct State {
    std::mutex mutex;
    PFN_vkGetInstanceProcAddr real_entry = nullptr;
    std::map<std::string, PFN_vkVoidFunction, std::less<>> real;  // the loader's, for all instances
    std::set<VkDevice> devices;                                   // that import memory
    std::map<VkBuffer, VkDeviceSize> buffers;
    std::map<VkDeviceMemory, Pages> memory;
    std::vector<std::string> mistakes;
};

State& state() {
    static auto* const STATE = new State;  // for ever: threads may end after main does
    return *STATE;
}

template <typename Pointer>
Pointer real(const char* name) {
    const std::lock_guard lock(state().mutex);
    return reinterpret_cast<Pointer>(state().real.at(name));
}
#define QUADTILE_REAL(name) real<PFN_##name>(#name)

bool is_guarded(VkDevice device) {
    const std::lock_guard lock(state().mutex);
    return state().devices.contains(device);
}

// With the mutex held.
void check(const Pages& pages) {
    std::byte* const tail = pages.buffer() + pages.buffer_size;
    const auto size = static_cast<std::size_t>(pages.end() - tail);
    ASAN_UNPOISON_MEMORY_REGION(tail, size);
    if (!std::all_of(tail, pages.end(), [](std::byte byte) { return byte == PATTERN; })) {
        std::memset(tail, static_cast<int>(PATTERN), size);
        state().mistakes.push_back("something was written behind a buffer of " +
                                   std::to_string(pages.buffer_size) + " bytes");
    }
    ASAN_POISON_MEMORY_REGION(tail, size);
}

VkResult VKAPI_CALL create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkDevice* device) {
    constexpr const char* EXTENSION = VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    VkPhysicalDeviceProperties properties;
    QUADTILE_REAL(vkGetPhysicalDeviceProperties)(physical, &properties);
    const auto enumerate = QUADTILE_REAL(vkEnumerateDeviceExtensionProperties);
    std::uint32_t count = 0;
    (void)enumerate(physical, nullptr, &count, nullptr);
    std::vector<VkExtensionProperties> offered(count);
    (void)enumerate(physical, nullptr, &count, offered.data());
    const bool imports = properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU &&
                         std::ranges::any_of(offered, [&](const VkExtensionProperties& each) {
                             return std::string_view(each.extensionName) == EXTENSION;
                         });
    VkDeviceCreateInfo with_import = *info;
    std::vector<const char*> names(info->ppEnabledExtensionNames,
                                   info->ppEnabledExtensionNames + info->enabledExtensionCount);
    if (imports) {
        names.push_back(EXTENSION);
        with_import.ppEnabledExtensionNames = names.data();
        with_import.enabledExtensionCount = static_cast<std::uint32_t>(names.size());
    }
    const VkResult result =
        QUADTILE_REAL(vkCreateDevice)(physical, &with_import, callbacks, device);
    const std::lock_guard lock(state().mutex);
    if (result == VK_SUCCESS && imports) {
        state().devices.insert(*device);
    } else if (result == VK_SUCCESS) {
        state().devices.erase(*device);
    }
    return result;
}

VkResult VKAPI_CALL create_buffer(VkDevice device, const VkBufferCreateInfo* info,
                                  const VkAllocationCallbacks* callbacks, VkBuffer* buffer) {
    const VkExternalMemoryBufferCreateInfo external{
        VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO, info->pNext,
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT};
    VkBufferCreateInfo changed = *info;
    changed.pNext = is_guarded(device) ? &external : info->pNext;
    const VkResult result = QUADTILE_REAL(vkCreateBuffer)(device, &changed, callbacks, buffer);
    if (result == VK_SUCCESS) {
        const std::lock_guard lock(state().mutex);
        state().buffers[*buffer] = info->size;
    }
    return result;
}

void VKAPI_CALL get_buffer_requirements(VkDevice device, VkBuffer buffer,
                                        VkMemoryRequirements* needed) {
    QUADTILE_REAL(vkGetBufferMemoryRequirements)(device, buffer, needed);
    const bool guarded = is_guarded(device);
    const std::lock_guard lock(state().mutex);
    wanted = guarded ? std::optional(Wanted{state().buffers[buffer], *needed}) : std::nullopt;
}

void VKAPI_CALL get_image_requirements(VkDevice device, VkImage image,
                                       VkMemoryRequirements* needed) {
    QUADTILE_REAL(vkGetImageMemoryRequirements)(device, image, needed);
    wanted.reset();
}

VkResult VKAPI_CALL allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                                    const VkAllocationCallbacks* callbacks,
                                    VkDeviceMemory* memory) {
    const auto allocate = QUADTILE_REAL(vkAllocateMemory);
    const std::optional<Wanted> buffer = std::exchange(wanted, std::nullopt);
    if (!buffer || buffer->needed.size != info->allocationSize) {
        return allocate(device, info, callbacks, memory);
    }
    const std::size_t page = page_bytes();
    const std::size_t size = (buffer->needed.size + page - 1) / page * page;
    void* const mapped = reserve(size + 2 * page);
    if (mapped == nullptr) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    const VkDeviceSize offset =
        (size - buffer->needed.size) / buffer->needed.alignment * buffer->needed.alignment;
    const Pages pages{static_cast<std::byte*>(mapped), size, offset, buffer->buffer_size};
    if (!allow(pages.begin(), size)) {
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    // Of large buffers the begin and the last page: more would take memory that nobody uses.
    constexpr std::size_t MOST_FILLED = std::size_t{1} << 20U;
    std::memset(pages.buffer(), static_cast<int>(PATTERN),
                std::min<std::size_t>(buffer->buffer_size, MOST_FILLED));
    std::memset(pages.end() - page, static_cast<int>(PATTERN), page);
    const VkImportMemoryHostPointerInfoEXT import{
        VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT, info->pNext,
        VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, pages.begin()};
    VkMemoryAllocateInfo importing = *info;
    importing.pNext = &import;
    importing.allocationSize = size;
    const VkResult result = allocate(device, &importing, callbacks, memory);
    if (result != VK_SUCCESS) {
        release(mapped, size + 2 * page);
        return result;
    }
    ASAN_POISON_MEMORY_REGION(pages.begin(), pages.offset);
    const std::lock_guard lock(state().mutex);
    state().memory[*memory] = pages;
    check(pages);
    return result;
}

std::optional<Pages> pages_of(VkDeviceMemory memory) {
    const std::lock_guard lock(state().mutex);
    const auto found = state().memory.find(memory);
    return found == state().memory.end() ? std::nullopt : std::optional(found->second);
}

VkResult VKAPI_CALL bind_buffer(VkDevice device, VkBuffer buffer, VkDeviceMemory memory,
                                VkDeviceSize offset) {
    const std::optional<Pages> pages = pages_of(memory);
    return QUADTILE_REAL(vkBindBufferMemory)(device, buffer, memory,
                                             offset + (pages ? pages->offset : 0));
}

VkResult VKAPI_CALL map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
                               VkDeviceSize size, VkMemoryMapFlags flags, void** data) {
    const std::optional<Pages> pages = pages_of(memory);
    return QUADTILE_REAL(vkMapMemory)(device, memory, offset + (pages ? pages->offset : 0), size,
                                      flags, data);
}

void VKAPI_CALL free_memory(VkDevice device, VkDeviceMemory memory,
                            const VkAllocationCallbacks* callbacks) {
    const std::optional<Pages> pages = pages_of(memory);
    if (pages) {
        const std::lock_guard lock(state().mutex);
        check(*pages);
        state().memory.erase(memory);
    }
    QUADTILE_REAL(vkFreeMemory)(device, memory, callbacks);
    if (pages) {
        ASAN_UNPOISON_MEMORY_REGION(pages->begin(), pages->size);
        release(pages->first, pages->size + 2 * page_bytes());
    }
}

PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name);
PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char* name);

// Returns the function of that name here, or null.
PFN_vkVoidFunction own(std::string_view name) {
    const auto address = [](auto* function) {
        return reinterpret_cast<PFN_vkVoidFunction>(function);
    };
    static const std::map<std::string_view, PFN_vkVoidFunction> FUNCTIONS{
        {"vkGetInstanceProcAddr", address(get_instance_proc_addr)},
        {"vkGetDeviceProcAddr", address(get_device_proc_addr)},
        {"vkCreateDevice", address(create_device)},
        {"vkCreateBuffer", address(create_buffer)},
        {"vkGetBufferMemoryRequirements", address(get_buffer_requirements)},
        {"vkGetImageMemoryRequirements", address(get_image_requirements)},
        {"vkAllocateMemory", address(allocate_memory)},
        {"vkBindBufferMemory", address(bind_buffer)},
        {"vkMapMemory", address(map_memory)},
        {"vkFreeMemory", address(free_memory)}};
    const auto found = FUNCTIONS.find(name);
    return found == FUNCTIONS.end() ? nullptr : found->second;
}

PFN_vkVoidFunction VKAPI_CALL get_device_proc_addr(VkDevice device, const char* name) {
    const PFN_vkVoidFunction mine = own(name);
    return mine != nullptr ? mine : QUADTILE_REAL(vkGetDeviceProcAddr)(device, name);
}

PFN_vkVoidFunction VKAPI_CALL get_instance_proc_addr(VkInstance instance, const char* name) {
    const PFN_vkVoidFunction found = state().real_entry(instance, name);
    const PFN_vkVoidFunction mine = own(name);
    if (found != nullptr && instance != VK_NULL_HANDLE) {
        const std::lock_guard lock(state().mutex);
        state().real[name] = found;
    }
    return found != nullptr && mine != nullptr ? mine : found;
}

}  // namespace

PFN_vkGetInstanceProcAddr entry() {
    // A device of its own, which has the loader opened.
    static const PFN_vkGetInstanceProcAddr real_entry = Device::create().get_instance_proc_addr();
    state().real_entry = real_entry;
    return get_instance_proc_addr;
}

std::vector<std::string> take_mistakes() {
    const std::lock_guard lock(state().mutex);
    for (const auto& [memory, pages] : state().memory) {
        check(pages);
    }
    return std::exchange(state().mistakes, {});
}

}  // namespace quadtile::test::guarded_memory
