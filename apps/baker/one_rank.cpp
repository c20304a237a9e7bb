#include "ranks.hpp"

namespace quadtile::baker {

std::unique_ptr<Ranks> make_ranks(int& /*argc*/, char**& /*argv*/) {
    return std::make_unique<Ranks>();
}

}  // namespace quadtile::baker
