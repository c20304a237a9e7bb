// Loops for processors that take more values at a time.

#pragma once

namespace quadtile::baker {

// On Windows GCC's code for them crashes: it takes the stack for aligned to more than 16 bytes.
#if defined(__x86_64__) && !defined(_WIN32)
#define QUADTILE_CALLS_WIDE
#ifndef __clang__  // does not know the attribute's last word
template <typename Work>
[[gnu::target("avx512f,avx512vl,avx512bw,avx512dq,popcnt,prefer-vector-width=512"),
  gnu::flatten]] void
call_with_avx512(const Work& work) {
    work();
}
#endif
template <typename Work>
[[gnu::target("avx2,popcnt"), gnu::flatten]] void call_with_avx2(const Work& work) {
    work();
}
#endif

// Calls work(). It and all that it calls are compiled three times on x86: also for processors with
// AVX2 or AVX-512, which take 8 or 16 floats at a time instead of 4. The results are the same.
template <typename Work>
void call_wide(const Work& work) {
#ifdef QUADTILE_CALLS_WIDE
#ifndef __clang__
    if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512vl") != 0 &&
        __builtin_cpu_supports("avx512bw") != 0 && __builtin_cpu_supports("avx512dq") != 0) {
        call_with_avx512(work);
        return;
    }
#endif
    if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("popcnt") != 0) {
        call_with_avx2(work);
        return;
    }
#endif
    work();
}

}  // namespace quadtile::baker
