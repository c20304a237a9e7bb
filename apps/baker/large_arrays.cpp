// Large arrays of a program in huge pages: a bake touches gigabytes, and each new page of 4 KiB
// costs a microsecond or more, most of all in virtual machines. For a program that lists this file
// among its sources.

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t PAGE_BYTES = std::size_t{2} << 20U;
constexpr std::size_t LARGE_BYTES = 16 * PAGE_BYTES;  // whose last page may be nearly empty

void* allocate(std::size_t size_bytes) {
    if (size_bytes < LARGE_BYTES || size_bytes > SIZE_MAX - PAGE_BYTES) {
        return std::malloc(size_bytes > 0 ? size_bytes : 1);
    }
    const std::size_t whole_bytes = (size_bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
    void* const bytes = std::aligned_alloc(PAGE_BYTES, whole_bytes);
    if (bytes != nullptr) {
        (void)madvise(bytes, whole_bytes, MADV_HUGEPAGE);  // small pages serve as well
    }
    return bytes;
}

}  // namespace

void* operator new(std::size_t size_bytes) {
    while (true) {
        if (void* const bytes = allocate(size_bytes)) {
            return bytes;
        }
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) {
            throw std::bad_alloc();
        }
        handler();
    }
}

void operator delete(void* bytes) noexcept {
    std::free(bytes);
}

void operator delete(void* bytes, std::size_t) noexcept {
    std::free(bytes);
}
