#include "leaks.hpp"

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

namespace quadtile::test {

void keep_modules_loaded() {
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

LeakIsMeant::LeakIsMeant() {
    __lsan_disable();
}
LeakIsMeant::~LeakIsMeant() {
    __lsan_enable();
}

}  // namespace quadtile::test

#else

namespace quadtile::test {

void keep_modules_loaded() {}
LeakIsMeant::LeakIsMeant() = default;
LeakIsMeant::~LeakIsMeant() = default;

}  // namespace quadtile::test

#endif
