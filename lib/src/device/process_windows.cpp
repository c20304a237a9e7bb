// Windows has no fork, and drivers end after all statics of the program. Those of a DLL end last,
// and other threads before them.

#include "device/process.hpp"

#include <process.h>
#include <windows.h>

namespace quadtile::detail {

int process_id() noexcept {
    return ::_getpid();
}

bool is_ending() noexcept {
    using IsEnding = BOOLEAN(NTAPI*)();
    static const auto is_ending = reinterpret_cast<IsEnding>(reinterpret_cast<void (*)()>(
        ::GetProcAddress(::GetModuleHandleW(L"ntdll.dll"), "RtlDllShutdownInProgress")));
    return is_ending() != 0;
}

void watch_drivers_end() {}

bool have_threads_ended() noexcept {
    return is_ending();
}

void protect_children() {}

}  // namespace quadtile::detail
