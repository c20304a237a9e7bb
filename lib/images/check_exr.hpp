// What OpenEXR takes on trust: sizes in headers, for which it allocates memory before it reads on.
//
// OpenEXR's own checkOpenEXRFile does not replace these checks: it reads all pixels, gives no
// reason, refuses deep data that is sound, and accepts headers that announce blocks of gigabytes.
// The header reader of its C library does not either: it trusts the size of a channel list, where
// the C++ reader goes on to the end of the names.

#pragma once

#include <OpenEXR/ImfHeader.h>

#include <cstdint>
#include <filesystem>

namespace quadtile::detail {

// Before the file is opened: every attribute of its headers has the size that its type needs, and
// lies in the file. Throws std::runtime_error that names the attribute.
void check_exr_attributes(const std::filesystem::path& path);

// Before pixels are read: a file of this size can hold those of the part, and its blocks are not
// much larger than its image. Throws std::runtime_error with the sizes.
void check_exr_pixels(const Imf::Header& part, std::uint64_t file_bytes);

}  // namespace quadtile::detail
