// Files that are written, signals, errors and work that hangs, as all programs have them; and what
// the programs write: tile lists, levels of images, pictures.

#include "process.hpp"
#include "arguments.hpp"
#include "draw_tiles.hpp"
#include "gpu.hpp"
#include "output_file.hpp"
#include "save_image.hpp"
#include "support/temporary_directory.hpp"
#include "tiles_files.hpp"

#include <quadtile/images.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace quadtile::app::test {
namespace {

// What the disk is asked for, in this order; and the file that it fails for.
std::vector<std::string> disk_calls;
std::string bad_file;

}  // namespace
}  // namespace quadtile::app::test

// In place of the C library's.
extern "C" int fsync(int descriptor) {
    using namespace quadtile::app::test;
    struct stat status {};
    (void)::fstat(descriptor, &status);
    disk_calls.emplace_back(S_ISDIR(status.st_mode) ? "sync folder" : "sync file");
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (!bad_file.empty() && quadtile::test::read_file(link) == bad_file) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, descriptor));
}
extern "C" int rename(const char* from, const char* to) {
    quadtile::app::test::disk_calls.emplace_back("rename");
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}

namespace quadtile::app::test {

using quadtile::test::read_file;
using quadtile::test::TemporaryDirectory;
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
    return static_cast<mode_t>(fs::status(path).permissions());
}

// Catches files that are empty after a power cut, because they got their names before their bytes.
TEST(OutputFile, IsOnTheDiskBeforeItHasItsName) {
    const TemporaryDirectory directory;
    disk_calls.clear();
    write_file(directory.path() / "checkpoint", "bytes");
    EXPECT_THAT(disk_calls, ::testing::ElementsAre("sync file", "rename", "sync folder"));
}

// Catches a list that is replaced although its picture cannot be written.
TEST(OutputFile, AllAppearOrNone) {
    for (const std::string bad : {"list", "picture"}) {
        const TemporaryDirectory directory;
        (void)directory.add("tiles.json", "old");
        std::vector<OutputFile> files;
        files.emplace_back(directory.path() / "tiles.json").write("list");
        files.emplace_back(directory.path() / "tiles.png").write("picture");
        bad_file = bad;
        EXPECT_THROW(OutputFile::commit_all(files), std::runtime_error);
        bad_file.clear();
        files.clear();
        EXPECT_EQ(directory.names(), std::set<std::string>{"tiles.json"});
        EXPECT_EQ(read_file(directory.path() / "tiles.json"), "old");
    }
}

// Catches private files that others can read once they are replaced.
TEST(OutputFile, KeepsPermissions) {
    const TemporaryDirectory directory;
    const mode_t before = ::umask(0);
    for (const auto& [umask, old, expected] : {std::tuple<mode_t, mode_t, mode_t>{022, 0, 0644},
                                               {077, 0, 0600},
                                               {022, 0600, 0600},
                                               {022, 0640, 0640},
                                               {077, 0666, 0666}}) {
        fs::remove(directory.path() / "file");
        if (old != 0) {
            fs::permissions(directory.add("file", "old"), static_cast<fs::perms>(old));
        }
        ::umask(umask);
        OutputFile file(directory.path() / "file");
        for (const std::string& name : directory.names()) {  // the temporary file, too
            EXPECT_EQ(mode_of(directory.path() / name), expected) << name;
        }
        file.commit();
        EXPECT_EQ(mode_of(directory.path() / "file"), expected);
        ::umask(0);
    }
    ::umask(before);
}

// Catches a pipe that is replaced by a file or gets bytes in the order of writing, and a log that
// loses what it had.
TEST(OutputFile, WritesDirectlyWhereNothingCanBeReplaced) {
    const TemporaryDirectory directory;
    const fs::path pipe = directory.path() / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    OutputFile file(pipe);
    file.write_at(2, "xt");
    file.write_at(0, "te");
    file.commit();
    std::string text(8, ' ');
    EXPECT_EQ(::read(reader, text.data(), text.size()), 4);
    EXPECT_EQ(text, "text    ");
    ::close(reader);
    EXPECT_TRUE(fs::is_fifo(pipe));

    const fs::path log = directory.add("log", "old ");
    const pid_t child = ::fork();
    if (child == 0) {
        ::dup2(::open(log.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
        write_file("/dev/stdout", "new");
        ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(read_file(log), "old new");
}

// ---- Processes

// The signal that ends a process which does `work` and gets `signal` then; 0: none does.
int signal_that_ends(int signal, const std::function<void()>& work) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(run_program("test", "", [&] {
            work();
            std::raise(signal);
            return 0;
        }));
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST(Process, SignalsLeaveNothingBehind) {
    for (const int signal : {SIGHUP, SIGINT, SIGTERM}) {
        const TemporaryDirectory directory;
        (void)directory.add("result", "old");
        const auto work = [&] {
            static OutputDirectories directories;  // which are there when the signal comes
            static std::vector<OutputFile> files;
            directories.create(directory.path() / "outer" / "inner");
            for (const char* const name : {"result", "outer/inner/result"}) {
                files.emplace_back(directory.path() / name).write("half");
            }
        };
        const auto before = std::signal(signal, SIG_DFL);  // nohup ignores some
        EXPECT_EQ(signal_that_ends(signal, work), signal);
        (void)std::signal(signal, before);
        EXPECT_EQ(directory.names(), std::set<std::string>{"result"});
        EXPECT_EQ(quadtile::test::read_file(directory.path() / "result"), "old");
    }
}

TEST(Process, IgnoresSignalsThatItsCallerIgnores) {
    const auto before = std::signal(SIGHUP, SIG_IGN);
    EXPECT_EQ(signal_that_ends(SIGHUP, [] {}), 0);
    (void)std::signal(SIGHUP, before);
}

TEST(Process, ErrorsAreALineAndAStatus) {
    const auto run = [](const std::function<int()>& work) {
        ::testing::internal::CaptureStderr();
        const int status = run_program("name", "no memory", work);
        return std::pair(status, ::testing::internal::GetCapturedStderr());
    };
    EXPECT_EQ(run([] { return 7; }), std::pair(7, std::string()));
    EXPECT_EQ(run([]() -> int { throw UsageError("a\nb"); }),
              std::pair(2, std::string("name: error: a b\n")));
    EXPECT_EQ(run([]() -> int { throw std::runtime_error("c"); }),
              std::pair(1, std::string("name: error: c\n")));
    EXPECT_EQ(run([]() -> int { throw std::bad_alloc(); }),
              std::pair(1, std::string("name: error: no memory\n")));
    // As std::thread throws where memory is exhausted.
    const auto no_thread = std::make_error_code(std::errc::resource_unavailable_try_again);
    EXPECT_EQ(run([&]() -> int { throw std::system_error(no_thread); }),
              std::pair(1, std::string("name: error: no memory\n")));
}

// Catches lines that break, that a terminal obeys, or that are no text.
TEST(MessageLine, IsOneLineOfText) {
    const std::string text = "caf\u00e9 \u20ac \U0001f5fa \u00a0 \uffff \U0010ffff";
    for (const auto& [bytes, shown] : std::vector<std::pair<std::string, std::string>>{
             {text, text},
             {"cannot read 'a\nb\r\tc'", "cannot read 'a b  c'"},
             {"\x1b[2J\x7f", "\\x1b[2J\\x7f"},
             {std::string(1, '\0'), "\\x00"},
             {"\xff", "\\xff"},           // in no character
             {"\x80x", "\\x80x"},         // the middle of one
             {"\xe2\x82", "\\xe2\\x82"},  // cut off
             {"\xc1\x81", "\\xc1\\x81"},  // longer than needed
             {"\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"},
             {"\xed\xa0\x80", "\\xed\\xa0\\x80"},              // half of a pair of UTF-16
             {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}}) {  // behind the last one
        EXPECT_EQ(message_line("quadtile: error", bytes), "quadtile: error: " + shown);
    }
}

// A driver whose work never ends: a wait takes all the time that it is given.
void hang() {
    auto& driver = VULKAN_HPP_DEFAULT_DISPATCHER;
    driver.vkWaitForFences = [](auto...) { return VK_TIMEOUT; };
    driver.vkDeviceWaitIdle = [](VkDevice) {
        while (true) {
            ::pause();
        }
        return VK_SUCCESS;
    };
    driver.vkFreeMemory = [](auto...) { std::abort(); };  // the work may use it
}

// The work hangs that the program waits for, or a frame that is still drawn when it ends.
int run_hanging(const quadtile::test::TemporaryDirectory& directory, bool waits) {
    return run_program("name", "", [&] {
        ::alarm(60);
        OutputFile file(directory.path() / "result");
        const Instance instance("hang", {}, false);
        Gpu gpu(instance, {}, {});
        if (!waits) {
            hang();
            return 0;
        }
        const Buffer used = gpu.make_buffer(64, vk::BufferUsageFlagBits::eTransferDst);
        hang();
        gpu.run([](vk::CommandBuffer) {});
        return 0;
    });
}

// Catches a wait without a limit behind the time-out, so that the message never came.
TEST(GpuHang, EndsWithItsMessage) {
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    for (const bool waits : {true, false}) {
        const TemporaryDirectory directory;
        EXPECT_EXIT(std::exit(run_hanging(directory, waits)), ::testing::ExitedWithCode(1),
                    "name: error: work on the GPU did not end within 1(0 minutes| minute)\n$")
            << waits;
        EXPECT_THAT(directory.names(), ::testing::IsEmpty());
    }
}

// ---- Tile lists, levels of images, pictures. The random cases of programs have ordinary values;
// these have the odd ones.

constexpr float INF = std::numeric_limits<float>::infinity();
constexpr float NOT_A_NUMBER = std::numeric_limits<float>::quiet_NaN();

// Real floats of all magnitudes, all that is special, and all sides of balanced lists.
TileList list_of_odd_values(Balance balance) {
    TileList list;
    list.shape = {65536, 40000, 1, TexelFormat::r32_float};
    list.nan_texels = 12345678901;
    list.balance = balance;
    std::mt19937 engine(7);
    const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
    const auto any_float = [&] {
        const auto value = std::bit_cast<float>(random());
        return std::isnan(value) ? INF : value;
    };
    for (std::uint32_t i = 0; i < 2000; ++i) {
        const std::uint32_t flags = balance == Balance::none ? i % 2 : i % 32;
        list.tiles.push_back({random(), tile_node(random() % 17, flags, random() % 65536),
                              any_float(), std::abs(any_float())});
    }
    list.tiles.push_back({tile_position(1, 2), tile_node(3, 0, 0), -INF, INF});
    list.tiles.push_back({0, tile_node(16, 0, 0), std::numeric_limits<float>::denorm_min(),
                          std::numeric_limits<float>::max()});
    list.tiles.push_back({0, 0, 16777217.0F, 0.1F});
    // Its shortest digits, read as a double, give another float.
    list.tiles.push_back({0, 0, -7.038531e-26F, 7.038531e-26F});
    return list;
}

// Catches digits that give another float, sides that are left out or named after another one, and
// fields at another place.
TEST(WriteTiles, GivesTheSameBitsBack) {
    for (const Balance balance : {Balance::none, Balance::edges, Balance::corners}) {
        const TileList list = list_of_odd_values(balance);
        const auto text = [&](TileFormat format) {
            std::string bytes;
            write_tiles(list, format, [&](std::string_view piece) { bytes += piece; });
            return bytes;
        };
        const TileList json = parse_json(text(TileFormat::json));
        const TileList binary = parse_binary(text(TileFormat::binary));
        EXPECT_TRUE(json.tiles == list.tiles);
        EXPECT_TRUE(binary.tiles == list.tiles);
        EXPECT_TRUE(parse_csv(text(TileFormat::csv), balance != Balance::none) == list.tiles);
        EXPECT_EQ(json.balance, balance);
        EXPECT_EQ(json.nan_texels, list.nan_texels);
        EXPECT_EQ(binary.nan_texels, list.nan_texels);
        EXPECT_EQ(binary.shape, list.shape);
        EXPECT_EQ(json.shape, list.shape);
    }
}

// Formats that random cases of programs do not read back by their texels. Catches channels that are
// swapped, cut off or converted.
TEST(SaveImage, KeepsEveryTexel) {
    const TemporaryDirectory directory;
    std::mt19937 engine(1);
    std::vector<std::uint16_t> words(37 * 19 * 2);
    std::ranges::generate(words, [&] { return static_cast<std::uint16_t>(engine()); });
    const auto save = [&](TexelFormat format) {
        return directory.add("image", encode_image({words.data(), {37, 19, 1, format}}));
    };
    const LoadedImage srgb = load_image(save(TexelFormat::rgba8_srgb));
    EXPECT_EQ(srgb.shape, (ImageShape{37, 19, 1, TexelFormat::rgba8_srgb}));
    EXPECT_EQ(std::memcmp(srgb.texels.get(), words.data(), 37 * 19 * 4), 0);
    for (const auto& [channel, offset] : {std::pair("R", 0U), {"G", 1U}}) {
        const LoadedMap loaded = load_map(save(TexelFormat::rg16_float), channel);
        for (std::size_t i = 0; i < 37 * 19; ++i) {
            EXPECT_EQ(std::memcmp(loaded.texels.get() + 2 * i, &words[2 * i + offset], 2), 0);
        }
    }
}

// Every shape can be drawn; the sanitizers watch the bounds. Catches outlines beside the tiles'
// edges, and bright texels that are lost in reduced maps or look like others.
TEST(DrawTiles, OutlinesLieBetweenTexelsOfTheWholeMap) {
    using Extent = std::pair<std::uint32_t, std::uint32_t>;
    for (const auto& [size, expected] : {std::pair(Extent(1, 1), Extent(1024, 1024)),
                                         {Extent(5, 3), Extent(1025, 615)},
                                         {Extent(1024, 1023), Extent(1024, 1023)},
                                         {Extent(1, 65536), Extent(1, 4096)}}) {
        const std::vector<float> ones(std::size_t{size.first} * size.second, 1.0F);
        const MapView map = view_of(ones, size.first, size.second);
        const Picture picture =
            draw_tiles(map, reference::subdivide(map, Threshold::constant(0.5F)).tiles);
        EXPECT_EQ(Extent(picture.width, picture.height), expected);
    }
    std::vector<float> texels(16, 1.0F);
    texels[0] = 8.0F;  // splits the upper left quarter
    const MapView map = view_of(texels, 4, 4);
    Picture picture = draw_tiles(map, reference::subdivide(map, Threshold::constant(4.0F)).tiles);
    const Rgb inside = picture.at(700, 700);
    for (const auto& [x, y, is_outline] : {std::tuple(768U, 700U, false),
                                           {512, 700, true},
                                           {511, 700, false},
                                           {513, 700, false},
                                           {400, 256, true},
                                           {400, 300, false},
                                           {0, 700, true},
                                           {700, 1023, true}}) {
        EXPECT_EQ(picture.at(x, y) != inside, is_outline) << x << ", " << y;
    }
    std::vector<float> wide(std::size_t{8192} * 2, 1.0F);
    wide[1001] = wide[3000] = INF;
    wide[8192 + 3001] = NOT_A_NUMBER;
    picture = draw_tiles(view_of(wide, 8192, 2), {});
    const std::set<Rgb> colours{picture.at(500, 0), picture.at(501, 0), picture.at(1500, 0)};
    EXPECT_EQ(colours.size(), 3U);
}

}  // namespace
}  // namespace quadtile::app::test
