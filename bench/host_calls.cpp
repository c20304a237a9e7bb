// Calls from C++ on the same map as bench/python.py, which compares the Python package with them.
//
//     quadtile_host_calls MAP    (1024 x 1024 32-bit floats)
//
// Prints the median time of Tiler::subdivide in microseconds, the maps per second of two threads
// that use a Service, each with WINDOW requests in flight, and the mean milliseconds per stage of
// runs, taken from one request in WINDOW.

#include <quadtile/quadtile.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <thread>

namespace {

using Clock = std::chrono::steady_clock;

// The same as in bench/python.py.
constexpr quadtile::MapShape SHAPE = {1024, 1024};
constexpr int CALLS = 400;
constexpr int REQUESTS = 1500;  // per thread
constexpr std::size_t WINDOW = 16;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

double tiler_us(const quadtile::Device& device, const quadtile::MapView& map,
                const quadtile::Threshold& threshold) {
    quadtile::Tiler tiler(device);
    std::vector<double> times;
    for (int i = 0; i < CALLS + 20; ++i) {
        const Clock::time_point start = Clock::now();
        const quadtile::TileList list = tiler.subdivide(map, threshold);
        times.push_back(seconds_since(start) * 1e6);
    }
    times.erase(times.begin(), times.begin() + 20);
    std::ranges::nth_element(times, times.begin() + CALLS / 2);
    return times[CALLS / 2];
}

double service_maps_per_s(const quadtile::Device& device, const quadtile::MapView& map,
                          const quadtile::Threshold& threshold) {
    quadtile::Service service(device);
    using Stages = std::vector<quadtile::StageTime>;
    const auto work = [&](int requests, std::vector<Stages>& stages) {
        std::deque<std::future<quadtile::TileList>> under_way;
        for (int i = 0; i < requests; ++i) {
            under_way.push_back(service.submit({.map = map, .threshold = threshold}).result);
            if (under_way.size() == WINDOW) {
                const quadtile::TileList list = under_way.front().get();
                under_way.pop_front();
                if (i % WINDOW == 0) {
                    stages.push_back(list.report.stages);
                }
            }
        }
        for (auto& result : under_way) {
            (void)result.get();
        }
    };
    std::array<std::vector<Stages>, 2> stages;
    work(100, stages[0]);
    stages[0].clear();
    const Clock::time_point start = Clock::now();
    std::thread other(work, REQUESTS, std::ref(stages[1]));
    work(REQUESTS, stages[0]);
    other.join();
    const double seconds = seconds_since(start);
    stages[0].insert(stages[0].end(), stages[1].begin(), stages[1].end());
    std::map<std::string, double> means;
    for (const Stages& run : stages[0]) {
        for (const quadtile::StageTime& stage : run) {
            means[stage.stage] += stage.milliseconds / static_cast<double>(stages[0].size());
        }
    }
    for (const auto& [stage, mean] : means) {
        std::string name = stage;
        std::ranges::replace(name, ' ', '_');
        std::printf("service_%s_ms %.4f\n", name.c_str(), mean);
    }
    const quadtile::ServiceStatistics done = service.statistics();
    std::printf("maps_per_run %.2f\n",
                static_cast<double>(done.succeeded) / static_cast<double>(done.runs));
    return 2 * REQUESTS / seconds;
}

}  // namespace

int main(int argc, char** argv) {
    std::vector<float> texels(std::size_t{SHAPE.width} * SHAPE.height);
    const auto size_bytes = static_cast<std::streamsize>(texels.size() * sizeof(float));
    if (argc != 2 || !std::ifstream(argv[1], std::ios::binary)
                          .read(reinterpret_cast<char*>(texels.data()), size_bytes)) {
        std::fprintf(stderr,
                     "usage: quadtile_host_calls MAP, a file of 1024 x 1024 32-bit floats\n");
        return 2;
    }
    try {
        const quadtile::MapView map = {texels.data(), SHAPE};
        const quadtile::Threshold threshold = quadtile::Threshold::max_resolution(64);
        const quadtile::Device device = quadtile::Device::create();
        std::printf("tiler_us %.1f\n", tiler_us(device, map, threshold));
        std::printf("service_maps_per_s %.1f\n", service_maps_per_s(device, map, threshold));
    } catch (const quadtile::Error& error) {
        std::fprintf(stderr, "quadtile_host_calls: error: %s\n", error.what());
        return 1;
    }
}
