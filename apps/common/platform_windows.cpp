#include "platform.hpp"

#include <fcntl.h>
#include <io.h>
#include <process.h>
#include <windows.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cwchar>
#include <system_error>

namespace quadtile::app::platform {

namespace fs = std::filesystem;

namespace {

constexpr DWORD SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;

int fail(DWORD error) {
    errno = error == ERROR_SHARING_VIOLATION
                ? EACCES
                : std::error_code(static_cast<int>(error), std::system_category())
                      .default_error_condition()
                      .value();
    return -1;
}

// Others may delete and rename the file: so may the signal that ends the process.
HANDLE open_handle(const fs::path& path, DWORD access, DWORD disposition) {
    return ::CreateFileW(path.c_str(), access, SHARE_ALL, nullptr, disposition,
                         FILE_ATTRIBUTE_NORMAL, nullptr);
}

int descriptor_of(HANDLE handle) {
    return ::_open_osfhandle(reinterpret_cast<std::intptr_t>(handle), _O_BINARY | _O_NOINHERIT);
}

}  // namespace

// NUL, CON, \\.\pipe\name. Standard output cannot be replaced while it is open, as `create` says.
int open_directly(const fs::path& path) {
    const HANDLE handle = open_handle(path, GENERIC_WRITE, OPEN_EXISTING);
    if (handle == INVALID_HANDLE_VALUE) {
        return 0;  // creating it tells the reason
    }
    if (::GetFileType(handle) == FILE_TYPE_DISK) {
        ::CloseHandle(handle);
        return 0;
    }
    return descriptor_of(handle);
}

int create(const fs::path& path, const fs::path& like) {
    // Asks before the work for what `replace` needs after it.
    const DWORD attributes = ::GetFileAttributesW(like.c_str());
    if (attributes != INVALID_FILE_ATTRIBUTES) {
        const HANDLE old = open_handle(like, DELETE, OPEN_EXISTING);
        if (old == INVALID_HANDLE_VALUE) {
            return fail(::GetLastError());
        }
        ::CloseHandle(old);
        if ((attributes & FILE_ATTRIBUTE_READONLY) != 0) {
            return fail(ERROR_ACCESS_DENIED);
        }
    }
    const HANDLE handle = open_handle(path, GENERIC_WRITE, CREATE_NEW);
    return handle == INVALID_HANDLE_VALUE ? fail(::GetLastError()) : descriptor_of(handle);
}

int duplicate_standard_output() {
    return ::_dup(1);
}

std::ptrdiff_t write(int descriptor, const char* bytes, std::size_t size) {
    constexpr std::size_t MOST = std::size_t{1} << 30U;  // in one call
    if (descriptor < 0) {  // which the C library takes for a mistake that ends the program
        errno = EBADF;
        return -1;
    }
    return ::_write(descriptor, bytes, static_cast<unsigned>(std::min(size, MOST)));
}

int seek(int descriptor, std::uint64_t place) {
    return ::_lseeki64(descriptor, static_cast<std::int64_t>(place), SEEK_SET) < 0 ? -1 : 0;
}

void begin_sync(int /*descriptor*/, std::uint64_t /*place*/, std::size_t /*size*/) {}

int sync(int descriptor) {
    return ::_commit(descriptor);
}

int close(int descriptor) {
    return ::_close(descriptor);
}

int replace(const fs::path& from, const fs::path& target) {
    // The first keeps the permissions of the target, the second needs none.
    const bool succeeded =
        ::ReplaceFileW(target.c_str(), from.c_str(), nullptr, 0, nullptr, nullptr) != 0 ||
        ::MoveFileExW(from.c_str(), target.c_str(),
                      MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) != 0;
    return succeeded ? 0 : fail(::GetLastError());
}

std::string error_text() {
    return errno == EACCES
               ? "permission denied, the file is read-only, or another program has it open"
               : std::generic_category().message(errno);
}

void remove(const wchar_t* path) noexcept {
    if (::DeleteFileW(path) == 0) {
        ::RemoveDirectoryW(path);
    }
}

bool are_same(const fs::path& one, const fs::path& other) {
    return ::_wcsicmp(one.c_str(), other.c_str()) == 0;
}

fs::path user_folder(const char* /*variable*/, const char* /*in_home*/) {
    const wchar_t* const folder = ::_wgetenv(L"LOCALAPPDATA");
    return folder == nullptr ? fs::path() : fs::path(folder) / "quadtile";
}

// SIGBREAK: Ctrl+Break, the console is closed, the user logs off, or the machine shuts down.
constexpr std::array SIGNALS{SIGINT, SIGTERM, SIGBREAK};

void prepare_process(void (*end)(int signal)) {
    for (const int signal : SIGNALS) {
        if (std::signal(signal, end) == SIG_IGN) {
            std::signal(signal, SIG_IGN);
        }
    }
    ::_setmode(1, _O_BINARY);
    ::_setmode(2, _O_BINARY);
    ::SetConsoleOutputCP(CP_UTF8);
}

void on_interrupt(void (*note)(int signal)) {
    for (const int signal : SIGNALS) {
        std::signal(signal, note);
    }
}

int process_id() {
    return ::_getpid();
}

fs::path program_file() {
    std::wstring path(1U << 15U, L'\0');  // the longest that Windows has
    path.resize(::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
    return path;
}

bool is_terminal(int stream) {
    return ::_isatty(stream) != 0;
}

std::uint64_t available_memory() {
    MEMORYSTATUSEX status{};
    status.dwLength = sizeof(status);
    return ::GlobalMemoryStatusEx(&status) != 0 ? status.ullAvailPhys : 0;
}

}  // namespace quadtile::app::platform
