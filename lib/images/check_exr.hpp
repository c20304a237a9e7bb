// Checks of OpenEXR files that OpenEXR omits: sizes in headers, for which it allocates memory
// before it reads on.
//
// OpenEXR's checkOpenEXRFile cannot replace them: it reads all pixels, gives no reason, refuses
// valid deep data, and accepts headers that announce blocks of gigabytes. Nor can the header reader
// of its C library: it trusts the size of a channel list, while the C++ reader goes on to the end
// of the names.

#pragma once

#include <OpenEXR/ImfHeader.h>

#include <cstdint>
#include <filesystem>

namespace quadtile::detail {

// Checks, before the file is opened, that every attribute of its headers lies in the file and has
// the size of its type. Throws std::runtime_error that names the attribute.
void check_exr_attributes(const std::filesystem::path& path);

// Checks, before pixels are read, that a file of this size can hold those of the part, and that its
// blocks are not much larger than its image. Throws std::runtime_error with the sizes.
void check_exr_pixels(const Imf::Header& part, std::uint64_t file_bytes);

}  // namespace quadtile::detail
