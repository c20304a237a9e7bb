// A shared library with its own copy of quadtile and objects in globals.

#include "used_object.hpp"

namespace {
std::optional<quadtile::test::UsedObject> object;
}

extern "C" __attribute__((visibility("default"))) void use_plugin(const char* kind) {
    object.emplace(kind);
    // dlclose() holds the lock of dlopen(), which drivers call: no thread that works may be waited
    // for there.
    object->finish();
}
