#include <quadtile/error.hpp>
#include <quadtile/trace.hpp>

#include <support/errors.hpp>
#include <support/temporary_directory.hpp>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <thread>
#include <vector>

namespace quadtile {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using nlohmann::json;

class Trace : public testing::Test {
 protected:
    [[nodiscard]] std::string path() const { return (directory_.path() / "trace.json").string(); }
    [[nodiscard]] json read() const { return json::parse(test::read_file(path())); }

    // The name that the viewer gives an event's track.
    static std::string track_of(const json& events, const json& event) {
        for (const json& named : events) {
            if (named["ph"] == "M" && named["tid"] == event["tid"]) {
                return named["args"]["name"];
            }
        }
        return "none";
    }

    test::TemporaryDirectory directory_;
};

TEST_F(Trace, HasWhatWasAdded) {
    TraceFile file(path());
    const Clock::time_point start = Clock::now();
    file.add({.name = "a \"b\"\\\n\x01 \xC3\xA9 \xFF",
              .track = "one",
              .start = start,
              .duration = 1500us,
              .details = {{"tiles", "17"}}});
    file.add({.name = "waits", .track = "two", .start = start, .duration = 2ms, .id = 7});
    const std::vector<StageTime> stages{{"upload", 3.0, false, start},
                                        {"pyramid", 4.0, true, start + 1ms}};
    file.add(stages, "one");
    file.close();
    file.add({.name = "late", .track = "one", .start = start, .duration = 1ms});
    file.close();

    const json events = read();
    ASSERT_TRUE(events.is_array());
    std::map<std::string, json> found;
    for (const json& event : events) {
        EXPECT_EQ(event["pid"], 1);
        if (event["ph"] != "M") {
            found[std::string(event["ph"]) + " " + std::string(event["name"])] = event;
        }
    }
    ASSERT_EQ(found.size(), 5U);
    const json& first = found["X a \"b\"\\\n\x01 \xC3\xA9 \xEF\xBF\xBD"];
    EXPECT_EQ(first["dur"], 1500.0);
    EXPECT_EQ(first["args"]["tiles"], "17");
    EXPECT_EQ(track_of(events, first), "one");
    EXPECT_EQ(found["b waits"]["id"], 7);
    EXPECT_EQ(found["e waits"]["id"], 7);
    EXPECT_NEAR(found["e waits"]["ts"].get<double>() - found["b waits"]["ts"].get<double>(), 2000.0,
                0.01);
    EXPECT_EQ(found["X upload"]["dur"], 3000.0);
    EXPECT_EQ(track_of(events, found["X upload"]), "one");
    EXPECT_EQ(track_of(events, found["X pyramid"]), "one, GPU");
    EXPECT_NEAR(found["X pyramid"]["ts"].get<double>() - found["X upload"]["ts"].get<double>(),
                1000.0, 0.01);
}

TEST_F(Trace, CanBeReadBeforeItIsClosed) {
    TraceFile file(path());
    file.add({.name = "a", .track = "one", .start = Clock::now(), .duration = 1ms});
    // Viewers do without the bracket at the end.
    EXPECT_EQ(json::parse(test::read_file(path()) + "]").size(), 2U);
}

TEST_F(Trace, IsWrittenByManyThreads) {
    TraceFile file(path());
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&, i] {
            for (int k = 0; k < 100; ++k) {
                file.add({.name = "a",
                          .track = std::to_string(i),
                          .start = Clock::now(),
                          .duration = 1us});
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    file.close();
    EXPECT_EQ(read().size(), 404U);
}

TEST_F(Trace, SaysWhatCannotBeWritten) {
    EXPECT_THAT(test::message_of([&] { const TraceFile file(path() + "/none"); }),
                testing::HasSubstr("trace.json/none"));
    TraceFile full("/dev/full");
    full.add({.name = "a", .track = "one", .start = Clock::now(), .duration = 1us});
    EXPECT_THROW(full.close(), Error);
    TraceFile empty(path());
    empty.close();
    EXPECT_TRUE(read().empty());
}

}  // namespace
}  // namespace quadtile
