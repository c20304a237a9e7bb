#include "map_sequence.hpp"
#include "pfm.hpp"

#include "support/temporary_directory.hpp"

#include <quadtile/error.hpp>
#include <quadtile/reference.hpp>

#include <gmock/gmock.h>

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace quadtile::viewer {
namespace {

using quadtile::test::TemporaryDirectory;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::string grey_pfm(float value) {
    return test::pfm({value}, 1);
}

std::string colour_pfm(float red, float green, float blue) {
    const std::array<float, 3> texel{red, green, blue};
    return "PF\n1 1\n-1\n" + std::string(reinterpret_cast<const char*>(&texel), sizeof(texel));
}

float value_of(const MapFrame& frame) {
    return reference::decode(frame.map.view()).at(0);
}

// Waits many times longer than a loading thread needs for files of a few bytes.
void let_it_load(int attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5) * (1 << attempt));
}
constexpr int ATTEMPTS = 14;  // the last one takes most of a minute, on a busy machine

class MapSequenceTest : public ::testing::Test {
 protected:
    // File i is one texel of value i + 1.
    std::vector<fs::path> files(std::size_t count) const {
        std::vector<fs::path> paths;
        for (std::size_t i = 0; i < count; ++i) {
            paths.push_back(add(i));
        }
        return paths;
    }

    fs::path add(std::size_t i) const {
        return directory_.add(std::to_string(i) + ".pfm", grey_pfm(static_cast<float>(i) + 1.0F));
    }

    [[nodiscard]] std::size_t frame_bytes() const {
        return load_frame(add(0), {})->statistics.positive_by_key.size() * 4 + 4;
    }

    // Waits for what was asked for: the file that the texel comes from.
    static std::size_t arrived(MapSequence& sequence) {
        const MapSequence::Arrival arrival = sequence.wait();
        if (!arrival.frame) {
            throw std::runtime_error(arrival.error);
        }
        return static_cast<std::size_t>(value_of(*arrival.frame)) - 1;
    }

    TemporaryDirectory directory_;
};

TEST_F(MapSequenceTest, FrameHasTheMapAndWhatIsKnownOfIt) {
    const fs::path path = directory_.add("colour.pfm", colour_pfm(1.0F, 2.0F, 4.0F));
    const auto frame = load_frame(path, "G");
    EXPECT_EQ(frame->name, "colour.pfm");
    EXPECT_EQ(frame->path, path);
    EXPECT_THAT(frame->channels, ElementsAre("R", "G", "B"));
    EXPECT_EQ(frame->map.channel, "G");
    EXPECT_EQ(value_of(*frame), 2.0F);
    EXPECT_EQ(frame->statistics.texels, 1U);
    EXPECT_EQ(frame->statistics.max, 2.0F);
    EXPECT_EQ(load_frame(path, {})->map.channel, "luminance");
    EXPECT_THROW((void)load_frame(path, "Y"), Error);
    EXPECT_THROW((void)load_frame(directory_.path() / "missing", {}), Error);
}

TEST_F(MapSequenceTest, WithoutFilesItIsTheDemo) {
    MapSequence sequence(nullptr);
    sequence.open({}, "Y");
    const MapSequence::Arrival first = sequence.wait();
    ASSERT_TRUE(first.frame) << first.error;
    EXPECT_EQ(first.frame->name, "demo map");
    sequence.step(-3);
    EXPECT_EQ(sequence.index(), 0U);
    EXPECT_EQ(sequence.wait().frame, first.frame);
    sequence.go_to(5);
    EXPECT_EQ(sequence.index(), 0U);
}

TEST_F(MapSequenceTest, GoesThroughTheFilesAndAround) {
    MapSequence sequence(nullptr);
    const std::vector<fs::path> paths = files(4);
    sequence.open(paths, {});
    EXPECT_EQ(sequence.files(), paths);
    EXPECT_EQ(arrived(sequence), 0U);
    const std::vector<std::pair<std::ptrdiff_t, std::size_t>> steps{
        {1, 1}, {1, 2}, {1, 3}, {1, 0}, {-1, 3}, {-1, 2}, {6, 0}, {-9, 3}, {0, 3}, {8, 3}};
    for (const auto& [step, expected] : steps) {
        sequence.step(step);
        EXPECT_EQ(sequence.index(), expected) << step;
        EXPECT_EQ(arrived(sequence), expected) << step;
    }
    for (const std::size_t target : {2U, 0U, 3U, 3U}) {
        sequence.go_to(target);
        EXPECT_EQ(sequence.index(), target);
        EXPECT_EQ(arrived(sequence), target);
    }
    sequence.go_to(5);
    EXPECT_EQ(sequence.index(), 1U);
    EXPECT_EQ(arrived(sequence), 1U);
}

// The last request wins, even if results of earlier ones were not taken.
TEST_F(MapSequenceTest, ManyRequestsEndInTheLast) {
    MapSequence sequence(nullptr, 0);
    EXPECT_FALSE(sequence.take() || sequence.is_loading());
    sequence.open({}, {});  // the demo's map takes a while
    sequence.open(files(7), {});
    for (int round = 0; round < 200; ++round) {
        sequence.step(round % 5 - 1);
        if (round % 7 == 0) {
            EXPECT_TRUE(sequence.is_loading());
            EXPECT_EQ(arrived(sequence), sequence.index());
            EXPECT_FALSE(sequence.take() || sequence.is_loading());
            EXPECT_THROW((void)sequence.wait(), std::logic_error);
        } else if (const auto arrival = sequence.take()) {
            ASSERT_TRUE(arrival->frame) << arrival->error;
            EXPECT_EQ(static_cast<std::size_t>(value_of(*arrival->frame)), sequence.index() + 1);
        }
    }
    for (std::ptrdiff_t round = 0; round < 20; ++round) {  // ends while it loads
        MapSequence other([] {});
        other.open(files(3), {});
        other.step(round % 3);
    }
}

TEST_F(MapSequenceTest, WakesTheOneWhoWaits) {
    std::atomic<int> calls = 0;
    MapSequence sequence([&] { ++calls; });
    sequence.open(files(3), {});
    const auto woken = [&](int times) {
        for (int attempt = 0; attempt < ATTEMPTS && calls < times; ++attempt) {
            let_it_load(attempt);
        }
        return calls == times;
    };
    EXPECT_TRUE(woken(1));
    EXPECT_TRUE(sequence.take());
    sequence.step(1);
    EXPECT_TRUE(woken(2));
    EXPECT_TRUE(sequence.take());
    sequence.step(-1);  // is there already
    EXPECT_EQ(calls, 3);
    EXPECT_TRUE(sequence.take());
}

TEST_F(MapSequenceTest, ErrorsArriveAndGoodFilesAfterThem) {
    MapSequence sequence(nullptr);
    std::vector<fs::path> paths = files(2);
    paths.insert(paths.begin(), directory_.path() / "missing.pfm");
    sequence.open(paths, {});
    const MapSequence::Arrival missing = sequence.wait();
    EXPECT_FALSE(missing.frame);
    EXPECT_THAT(missing.error, HasSubstr("missing.pfm"));
    sequence.step(1);
    EXPECT_EQ(arrived(sequence), 0U);
    sequence.step(-1);
    EXPECT_THAT(sequence.wait().error, HasSubstr("there is no such file"));
    directory_.add("missing.pfm", grey_pfm(9.0F));  // errors are not kept
    sequence.step(0);
    EXPECT_EQ(arrived(sequence), 8U);
}

TEST_F(MapSequenceTest, ChoosesAChannel) {
    MapSequence sequence(nullptr);
    sequence.open({directory_.add("a", colour_pfm(1.0F, 2.0F, 3.0F)),
                   directory_.add("b", colour_pfm(4.0F, 5.0F, 6.0F))},
                  "R");
    EXPECT_EQ(arrived(sequence), 0U);
    sequence.choose_channel("B");
    EXPECT_EQ(sequence.channel(), "B");
    EXPECT_EQ(arrived(sequence), 2U);
    sequence.step(1);
    EXPECT_EQ(arrived(sequence), 5U);
    sequence.choose_channel("depth");
    EXPECT_THAT(sequence.wait().error, HasSubstr("it has R, G, B"));
    sequence.choose_channel("R");
    EXPECT_EQ(sequence.wait().frame->map.channel, "R");
    EXPECT_EQ(sequence.index(), 1U);
}

// Has `prepare` ask for a file and take it, removes file `next` after a while, and goes there.
// Whether it arrives, and thus had been loaded ahead.
template <typename Prepare>
bool is_loaded_ahead(const fs::path& next, std::ptrdiff_t step, Prepare&& prepare,
                     std::size_t max_cache_bytes = std::size_t{1} << 24U) {
    const std::string bytes = quadtile::test::read_file(next);
    for (int attempt = 0; attempt < ATTEMPTS; ++attempt) {
        MapSequence sequence(nullptr, max_cache_bytes);
        prepare(sequence);
        let_it_load(attempt);
        fs::remove(next);
        sequence.step(step);
        const bool found = sequence.wait().frame != nullptr;
        std::ofstream(next, std::ios::binary) << bytes;
        if (found) {
            return true;
        }
    }
    return false;
}

TEST_F(MapSequenceTest, LoadsAheadInTheDirectionOfTheLastStep) {
    const std::vector<fs::path> paths = files(8);
    EXPECT_TRUE(is_loaded_ahead(paths[4], -1, [&](MapSequence& sequence) {
        sequence.open(paths, {});
        sequence.go_to(6);
        EXPECT_EQ(arrived(sequence), 6U);
        sequence.step(-1);
        EXPECT_EQ(arrived(sequence), 5U);
    }));
    EXPECT_TRUE(is_loaded_ahead(paths[7], -1, [&](MapSequence& sequence) {  // at the other end
        sequence.open(paths, {});
        sequence.go_to(1);
        sequence.step(-1);
        EXPECT_EQ(arrived(sequence), 0U);
    }));
    // Frames that are larger than the cache are loaded, too.
    const auto take_first = [&](MapSequence& sequence) {
        sequence.open(paths, {});
        EXPECT_EQ(arrived(sequence), 0U);
    };
    EXPECT_TRUE(is_loaded_ahead(paths[1], 1, take_first, 0));
}

TEST_F(MapSequenceTest, KeepsTheLastFrames) {
    MapSequence sequence(nullptr);
    const std::vector<fs::path> paths = files(4);
    sequence.open(paths, {});
    const auto first = sequence.wait().frame;
    for (std::size_t i = 1; i < 4; ++i) {
        sequence.step(1);
        EXPECT_EQ(arrived(sequence), i);
    }
    for (const fs::path& path : paths) {
        fs::remove(path);
    }
    for (const std::size_t expected : {2U, 1U}) {
        sequence.step(-1);
        const auto there = sequence.take();  // at once
        ASSERT_TRUE(there && there->frame);
        EXPECT_EQ(value_of(*there->frame), static_cast<float>(expected) + 1.0F);
    }
    sequence.step(-1);
    EXPECT_EQ(sequence.wait().frame, first);
}

TEST_F(MapSequenceTest, KeepsNoMoreFramesThanHavePlace) {
    // Two have place: file 0 goes for file 2.
    MapSequence sequence(nullptr, 2 * frame_bytes());
    const std::vector<fs::path> paths = files(8);
    sequence.open(paths, {});
    EXPECT_EQ(arrived(sequence), 0U);
    sequence.step(1);
    EXPECT_EQ(arrived(sequence), 1U);
    sequence.step(1);
    EXPECT_EQ(arrived(sequence), 2U);
    fs::remove(paths[0]);
    sequence.go_to(0);
    EXPECT_THAT(sequence.wait().error, HasSubstr("there is no such file"));
}

TEST_F(MapSequenceTest, ReadsAFileThatIsOpenedAgain) {
    MapSequence sequence(nullptr);
    const fs::path path = directory_.add("map", grey_pfm(1.0F));
    sequence.open({path}, {});
    EXPECT_EQ(arrived(sequence), 0U);
    directory_.add("map", grey_pfm(6.0F));
    sequence.open({path}, {});
    EXPECT_EQ(arrived(sequence), 5U);
}

}  // namespace
}  // namespace quadtile::viewer
