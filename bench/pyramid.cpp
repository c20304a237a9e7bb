// The maximum pyramid, all levels written.

#include "measurement.hpp"

namespace quadtile::bench {

void add_pyramid(Session& session, const MapSource& source) {
    session.add("pyramid", source, [&session](Scene& scene) {
        const auto record = [&session, &scene](VkCommandBuffer commands) {
            session.pyramid().record(commands, scene.pyramid().binding);
        };
        session.gpu().run(record);
        scene.check_pyramid(session.gpu());
        return Measurement{record, {}};
    });
}

}  // namespace quadtile::bench
