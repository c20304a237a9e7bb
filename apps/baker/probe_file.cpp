#include "probe_file.hpp"

#include "platform.hpp"

#include <nlohmann/json.hpp>

#include <bit>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace quadtile::baker {

namespace {

static_assert(std::endian::native == std::endian::little);

using FloatJson = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool,
                                       std::int64_t, std::uint64_t, float>;

FloatJson json_of(const auto& three) {
    return {three.x, three.y, three.z};
}

std::string json_text(const std::vector<Probe>& probes, const ProbeGrid& grid) {
    FloatJson list = FloatJson::array();
    for (const Probe& probe : probes) {
        FloatJson sh = FloatJson::array();
        for (const glm::vec3& coefficient : probe.radiance_sh) {
            sh.push_back(json_of(coefficient));
        }
        list.push_back(
            {{"position", json_of(probe.position)}, {"valid", probe.is_valid}, {"sh", sh}});
    }
    FloatJson json{{"counts", json_of(grid.counts)},
                   {"low", json_of(glm::vec3(grid.box.low))},
                   {"high", json_of(glm::vec3(grid.box.high))},
                   {"probes", list}};
    if (grid.counts.x == 0) {
        json = {{"probes", list}};
    }
    return json.dump() + "\n";
}

std::string binary(const std::vector<Probe>& probes, const ProbeGrid& grid) {
    std::string bytes("QDTPROB1");
    const auto add = [&](const auto& value) {
        bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    add(static_cast<std::uint32_t>(probes.size()));
    add(grid.counts);
    add(glm::vec3(grid.counts.x > 0 ? grid.box.low : glm::dvec3(0.0)));
    add(glm::vec3(grid.counts.x > 0 ? grid.box.high : glm::dvec3(0.0)));
    for (const Probe& probe : probes) {
        add(probe.position);
        add(probe.is_valid ? 1.0F : 0.0F);
        add(probe.radiance_sh);
    }
    return bytes;
}

}  // namespace

std::vector<glm::vec3> ProbeGrid::places() const {
    std::vector<glm::vec3> places;
    for (std::uint32_t i = 0; i < counts.x * counts.y * counts.z; ++i) {
        const glm::dvec3 cell(i % counts.x, i / counts.x % counts.y, i / counts.x / counts.y);
        places.emplace_back(box.low + box.size() * (cell + 0.5) / glm::dvec3(counts));
    }
    return places;
}

std::vector<glm::vec3> read_probe_points(const std::filesystem::path& path,
                                         const glm::dvec3& origin) {
    const auto refuse = [&](const std::string& what) {
        throw std::runtime_error("'" + app::text_of(path) + "' " + what);
    };
    std::ifstream file(path);
    std::vector<glm::vec3> points;
    std::string line;
    for (std::size_t number = 1; std::getline(file, line); ++number) {
        glm::dvec3 point;
        std::string more;
        std::istringstream words(line);
        words >> point.x >> point.y >> point.z;
        if (!words || words >> more ||
            glm::any(glm::greaterThan(glm::abs(point), glm::dvec3(1e9)))) {
            refuse("has no point in line " + std::to_string(number) +
                   "; write three numbers from -1e9 to 1e9 with spaces between them, for example "
                   "0.5 1.7 -2");
        }
        points.emplace_back(point - origin);
    }
    if (points.empty()) {
        refuse("cannot be read or is empty; write the three numbers of a point in each line");
    }
    if (points.size() > MOST_PROBES) {
        refuse("has more than " + std::to_string(MOST_PROBES) + " points; bake them in parts");
    }
    return points;
}

std::string encode_probes(const std::vector<Probe>& probes, const ProbeGrid& grid, bool as_json) {
    return as_json ? json_text(probes, grid) : binary(probes, grid);
}

}  // namespace quadtile::baker
