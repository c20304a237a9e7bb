// For runs under the address sanitizer, which looks for leaks when the test has ended. Elsewhere
// nothing of this does anything.

#pragma once

namespace quadtile::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool IS_SANITIZED = true;
#else
inline constexpr bool IS_SANITIZED = false;
#endif

// Drivers are unloaded with their last instance; the sanitizer could not say then whose a leak is.
// So all that is loaded now stays.
void keep_modules_loaded();

// Ignores the memory that this thread allocates in the meantime, and all that it refers to.
class LeakIsMeant {
 public:
    LeakIsMeant();
    ~LeakIsMeant();
    LeakIsMeant(const LeakIsMeant&) = delete;
    LeakIsMeant& operator=(const LeakIsMeant&) = delete;
};

}  // namespace quadtile::test
