/// \file
/// All public headers of quadtile, adaptive tile subdivision on the GPU, except
/// quadtile/images.hpp, which belongs to a library of its own.

/// \namespace quadtile
/// The C++ library.

/// \namespace quadtile::reference
/// Subdivision and mip levels on the host, without Vulkan: the CPU twins of the kernels.

#pragma once

#include <quadtile/version.h>
#include <quadtile/device.hpp>
#include <quadtile/downsampler.hpp>
#include <quadtile/error.hpp>
#include <quadtile/image.hpp>
#include <quadtile/mip_chain.hpp>
#include <quadtile/mipmapper.hpp>
#include <quadtile/node_thresholds.hpp>
#include <quadtile/pyramid.hpp>
#include <quadtile/reference.hpp>
#include <quadtile/resources.hpp>
#include <quadtile/service.hpp>
#include <quadtile/strategy.hpp>
#include <quadtile/subdivider.hpp>
#include <quadtile/threshold.hpp>
#include <quadtile/tiler.hpp>
#include <quadtile/tiles.hpp>
