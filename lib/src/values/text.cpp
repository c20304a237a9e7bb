#include "text.hpp"

#include <nlohmann/json.hpp>

namespace quadtile::detail {

std::string valid_utf8(const std::string& bytes) {
    using nlohmann::json;
    const std::string quoted = json(bytes).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

}  // namespace quadtile::detail
