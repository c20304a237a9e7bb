// Matchers and messages of calls that fail.

#pragma once

#include <quadtile/error.hpp>

#include <gmock/gmock.h>

#include <exception>
#include <string>

namespace quadtile::test {

// EXPECT_THAT([&] { call(); }, fails(code, "part", ...)): the call throws an Error with that code
// whose text contains all the parts.
template <typename... Parts>
auto fails(ErrorCode code, const Parts&... parts) {
    return testing::Throws<Error>(
        testing::AllOf(testing::Property(&Error::code, code),
                       testing::Property(&std::exception::what, testing::HasSubstr(parts))...));
}

// Matches an Error for a mistake of the caller.
template <typename... Parts>
auto is_refused(const Parts&... parts) {
    return fails(ErrorCode::invalid_argument, parts...);
}

// Returns the text of the Error that the call throws; empty: none.
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

// Returns the text of the exception that the call throws; empty: none.
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
