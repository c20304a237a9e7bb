#include "commands.hpp"
#include "glsl_file.hpp"
#include "output_file.hpp"

#include <quadtile/glsl.hpp>

namespace quadtile::app {

void run(const CompileRequest& request) {
    const GlslFile file =
        read_glsl_file(request.input, request.channels ? GlslKind::reduction : GlslKind::threshold);
    if (!file.compiled.empty()) {
        throw std::runtime_error("'" + request.input.string() +
                                 "' is compiled already; give the file with its GLSL");
    }
    OutputFile output(request.output);
    try {
        const std::vector<std::byte> code = request.channels
                                                ? compile_reduction(file.text, *request.channels)
                                                : compile_threshold(file.text);
        output.write({reinterpret_cast<const char*>(code.data()), code.size()});
    } catch (const Error& error) {
        throw file.with_name(error);
    }
    output.commit();
}

}  // namespace quadtile::app
