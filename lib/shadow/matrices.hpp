/// \file
/// Vectors and matrices of 64-bit floats, for frames and projections.
///
/// GLM does not replace them: it adds four products in pairs, which gives other bits, and every
/// user of the library's sources would need it.

#pragma once

#include <quadtile/error.hpp>
#include <quadtile/shadow.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>

namespace quadtile::shadow {

using Vector = std::array<double, 3>;   ///< in the world
using Vector4 = std::array<double, 4>;  ///< homogeneous, or a row of a matrix
using Matrix = std::array<Vector4, 4>;  ///< by row

/// Throws an error whose message is these texts and numbers, the same in every locale.
template <typename... Parts>
[[noreturn]] void throw_invalid(const Parts&... parts) {
    std::ostringstream message;
    message.imbue(std::locale::classic());
    (message << ... << parts);
    throw Error(ErrorCode::invalid_argument, message.str());
}

inline Vector vector(const std::array<float, 3>& v) {
    return {v[0], v[1], v[2]};
}

inline double dot(const Vector& a, const Vector& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

inline double length(const Vector& v) {
    return std::sqrt(dot(v, v));
}

inline Vector cross(const Vector& a, const Vector& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

inline double dot(const Vector4& a, const Vector4& b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/// Part of a matrix row that applies to directions.
inline Vector linear_part(const Vector4& row) {
    return {row[0], row[1], row[2]};
}

inline Vector4 transform(const Matrix& m, const Vector4& v) {
    return {dot(m[0], v), dot(m[1], v), dot(m[2], v), dot(m[3], v)};
}

inline Matrix matrix(const ShadowMatrix& m) {
    Matrix rows{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            rows[row][column] = m[4 * column + row];
        }
    }
    return rows;
}

/// Rounds a matrix to floats.
inline ShadowMatrix shadow_matrix(const Matrix& m) {
    ShadowMatrix columns{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            columns[4 * column + row] = static_cast<float>(m[row][column]);
        }
    }
    return columns;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
    Matrix result{};
    for (std::size_t row = 0; row < 4; ++row) {
        for (std::size_t column = 0; column < 4; ++column) {
            for (std::size_t i = 0; i < 4; ++i) {
                result[row][column] += a[row][i] * b[i][column];
            }
        }
    }
    return result;
}

/// Throws Error(invalid_argument) if a number of `what` is infinite or NaN.
template <std::size_t N>
void check_finite(const std::array<float, N>& numbers, const std::string& what) {
    if (!std::ranges::all_of(numbers, [](float number) { return std::isfinite(number); })) {
        throw Error(ErrorCode::invalid_argument,
                    what + " has a number that is infinite or NaN; give finite ones");
    }
}

/// A corner of a box, 0 to 7.
inline Vector4 corner_of(const ShadowBox& box, unsigned corner) {
    return {(corner & 1U) != 0 ? box.high[0] : box.low[0],
            (corner & 2U) != 0 ? box.high[1] : box.low[1],
            (corner & 4U) != 0 ? box.high[2] : box.low[2], 1.0};
}

}  // namespace quadtile::shadow
