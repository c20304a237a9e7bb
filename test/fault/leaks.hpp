// For runs under the address sanitizer, which looks for leaks when the test has ended. Elsewhere
// nothing of this does anything. For one source file of a program.

#pragma once

#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>
#include <link.h>
#include <sanitizer/lsan_interface.h>

#include <string>
#include <vector>

// Leaks of others, by the module that allocated. What the library does not give back to them shows
// as objects that are alive (faulty_vulkan.hpp).
extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions();
const char* __lsan_default_suppressions() {            // NOLINT: its name
    return "leak:libvulkan_lvp.so\n"                   // lavapipe: what it keeps for later devices
           "leak:libVkLayer_khronos_validation.so\n";  // what it keeps of calls that have failed
}
#endif

namespace quadtile::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool IS_SANITIZED = true;

// Drivers are unloaded with their last instance; the sanitizer could not say then whose a leak is.
// So all that is loaded now stays.
inline void keep_modules_loaded() {
    // Not opened from inside: the list is locked there.
    std::vector<std::string> paths;
    (void)dl_iterate_phdr(
        [](dl_phdr_info* module, std::size_t, void* found) {
            static_cast<std::vector<std::string>*>(found)->emplace_back(module->dlpi_name);
            return 0;
        },
        &paths);
    for (const std::string& path : paths) {
        (void)dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

// Ignores the memory that this thread allocates in the meantime, and all that it refers to.
using LeakIsMeant = __lsan::ScopedDisabler;
#else
inline constexpr bool IS_SANITIZED = false;
inline void keep_modules_loaded() {}
struct LeakIsMeant {
    LeakIsMeant() {}  // not trivial: a variable of it is in use
};
#endif

}  // namespace quadtile::test
