#include "glsl_file.hpp"

#include "platform.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace quadtile::app {

namespace {

// Longest text that the library compiles. Some devices and pipes never end.
constexpr std::size_t MAX_BYTES = std::size_t{64} << 10U;

const char* declaration_of(GlslKind kind) {
    return kind == GlslKind::threshold ? "float threshold(uint level, uvec2 position, uint layer)"
                                       : "TEXEL reduce(TEXEL a, TEXEL b, TEXEL c, TEXEL d)";
}

}  // namespace

Error GlslFile::with_name(const Error& error) const {
    const std::string library_name = kind == GlslKind::threshold ? "threshold:" : "reduction:";
    std::istringstream lines(error.what());
    std::string named;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(library_name)) {
            line = text_of(path) + ":" + line.substr(library_name.size());
        }
        named += (named.empty() ? "" : "\n") + line;
    }
    return {error.code(), named, error.vk_result()};
}

GlslFile read_glsl_file(const std::filesystem::path& path, GlslKind kind) {
    const auto fail = [&](const std::string& why) {
        throw std::runtime_error("cannot read '" + text_of(path) + "': " + why);
    };
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        fail("it is a directory; give a file with GLSL");
    }
    errno = 0;
    std::ifstream stream(path, std::ios::binary);
    GlslFile file{path, kind, {}};
    if (stream) {
        file.text.resize(MAX_BYTES + 1);
        stream.read(file.text.data(), static_cast<std::streamsize>(file.text.size()));
        file.text.resize(static_cast<std::size_t>(stream.gcount()));
    }
    if (stream.bad() || (!stream && !stream.eof())) {
        fail(std::generic_category().message(errno));
    }
    if (file.text.size() > MAX_BYTES) {
        fail("it is longer than " + std::to_string(MAX_BYTES >> 10U) +
             " KiB; give a file with GLSL");
    }
    if (file.text.find_first_not_of(" \t\r\n") == std::string::npos) {
        fail(std::string("the file is empty; it must define ") + declaration_of(kind));
    }
    return file;
}

}  // namespace quadtile::app
