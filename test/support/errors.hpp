// Calls that fail: a matcher of them, and what they say.

#pragma once

#include <quadtile/error.hpp>

#include <gmock/gmock.h>

#include <exception>
#include <string>

namespace quadtile::test {

// EXPECT_THAT([&] { call(); }, fails(code, "part", ...)): the call throws an Error of that code,
// whose text has all the parts.
template <typename... Parts>
auto fails(ErrorCode code, const Parts&... parts) {
    return testing::Throws<Error>(
        testing::AllOf(testing::Property(&Error::code, code),
                       testing::Property(&std::exception::what, testing::HasSubstr(parts))...));
}

// The same of mistakes of the caller's.
template <typename... Parts>
auto is_refused(const Parts&... parts) {
    return fails(ErrorCode::invalid_argument, parts...);
}

// Text of the Error that such a call throws; empty: none.
template <typename Call>
std::string refusal_of(const Call& call) {
    try {
        (void)call();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
        return error.what();
    }
    return {};
}

// What the exception says that such a call throws; empty: there is none.
template <typename Call>
std::string message_of(const Call& call) {
    try {
        (void)call();
    } catch (const std::exception& error) {
        return error.what();
    }
    return {};
}

}  // namespace quadtile::test
