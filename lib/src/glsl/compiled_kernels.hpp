// SPIR-V of kernels under names of any length: several kernels in one piece of bytes, and the
// kernels that a process has compiled, in memory and on disk.

#pragma once

#include "device/cache_directory.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadtile::detail {

using SpirvWords = std::vector<std::uint32_t>;

// Appends a kernel.
void append_kernel(std::vector<std::byte>& kernels, std::string_view name,
                   std::span<const std::uint32_t> spirv);

[[nodiscard]] std::optional<SpirvWords> find_kernel(std::span<const std::byte> kernels,
                                                    std::string_view name);

// Cache of compiled kernels. Thread-safe.
class CompiledKernels {
 public:
    // Returns a kernel by a name that identifies everything its code depends on, except the
    // library's own kernels: from memory, from `directory`, or from `compile`; then it is kept in
    // both.
    [[nodiscard]] SpirvWords get(const std::string& name, const CacheDirectory& directory,
                                 const std::function<SpirvWords()>& compile);

 private:
    std::mutex mutex_;
    std::map<std::string, SpirvWords> kernels_;
};

}  // namespace quadtile::detail
