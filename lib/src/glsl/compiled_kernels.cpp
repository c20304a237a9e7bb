#include "glsl/compiled_kernels.hpp"

#include "device/framed_data.hpp"
#include "device/kernels.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

namespace quadtile::detail {

namespace {

void append_part(std::vector<std::byte>& kernels, std::span<const std::byte> bytes) {
    const std::uint64_t size = bytes.size();
    const auto size_bytes = std::as_bytes(std::span(&size, 1));
    kernels.insert(kernels.end(), size_bytes.begin(), size_bytes.end());
    kernels.insert(kernels.end(), bytes.begin(), bytes.end());
}

// Takes the next part off the front of `kernels`; nothing if it is empty or damaged.
std::optional<std::span<const std::byte>> take_part(std::span<const std::byte>& kernels) {
    std::uint64_t size = 0;
    if (kernels.size() < sizeof(size)) {
        return std::nullopt;
    }
    std::memcpy(&size, kernels.data(), sizeof(size));
    kernels = kernels.subspan(sizeof(size));
    if (kernels.size() < size) {
        return std::nullopt;
    }
    const auto part = kernels.first(size);
    kernels = kernels.subspan(size);
    return part;
}

// "kernel-<the library's kernels>-<name>.spv"
std::string file_name_of(const std::string& name) {
    char text[64];
    (void)std::snprintf(text, sizeof(text), "kernel-%016llx-%016llx.spv",
                        static_cast<unsigned long long>(kernel_fingerprint()),
                        static_cast<unsigned long long>(checksum(std::as_bytes(std::span(name)))));
    return text;
}

std::optional<SpirvWords> read(const std::string& name, const CacheDirectory& directory) {
    const std::string file_name = file_name_of(name);
    const auto bytes = directory.read(file_name);
    if (!bytes) {
        return std::nullopt;
    }
    const Unframed file = unframe(Content::user_kernels, kernel_fingerprint(), *bytes);
    if (file.state != FrameState::whole) {
        directory.warn("the cached kernel " + file_name + " is damaged: it is compiled again");
        return std::nullopt;
    }
    return find_kernel(file.payload, name);  // nothing if another name has the same checksum
}

void write(const std::string& name, const SpirvWords& spirv, const CacheDirectory& directory) {
    std::vector<std::byte> kernel;
    append_kernel(kernel, name, spirv);
    directory.write(file_name_of(name), frame(Content::user_kernels, kernel_fingerprint(), kernel));
}

}  // namespace

void append_kernel(std::vector<std::byte>& kernels, std::string_view name,
                   std::span<const std::uint32_t> spirv) {
    append_part(kernels, std::as_bytes(std::span(name)));
    append_part(kernels, std::as_bytes(spirv));
}

std::optional<SpirvWords> find_kernel(std::span<const std::byte> kernels, std::string_view name) {
    while (true) {
        const auto found = take_part(kernels);
        const auto spirv = take_part(kernels);
        if (!found || !spirv) {
            return std::nullopt;
        }
        if (std::string_view(reinterpret_cast<const char*>(found->data()), found->size()) == name) {
            SpirvWords words(spirv->size() / sizeof(std::uint32_t));
            std::memcpy(words.data(), spirv->data(), words.size() * sizeof(words[0]));
            return words;
        }
    }
}

SpirvWords CompiledKernels::get(const std::string& name, const CacheDirectory& directory,
                                const std::function<SpirvWords()>& compile) {
    // The mutex is held during compilation: others who need the same kernel wait for it.
    const std::lock_guard lock(mutex_);
    if (const auto known = kernels_.find(name); known != kernels_.end()) {
        if (directory && !directory.has(file_name_of(name))) {  // of another directory, or none
            write(name, known->second, directory);
        }
        return known->second;
    }
    std::optional<SpirvWords> words = read(name, directory);
    if (!words) {
        words = compile();
        write(name, *words, directory);
    }
    constexpr std::size_t MANY = 256;  // more texts than programs have, unless they generate texts
    if (kernels_.size() >= MANY) {
        kernels_.clear();
    }
    return kernels_[name] = std::move(*words);
}

}  // namespace quadtile::detail
