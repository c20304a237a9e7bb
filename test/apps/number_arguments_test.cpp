#include "arguments.hpp"

#include <gmock/gmock.h>

namespace quadtile::app::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The error; empty: the numbers are taken.
template <typename... Range>
std::string error_of(std::string_view text, Range... range) {
    try {
        (void)parse_floats("--x", text, range...);
    } catch (const UsageError& error) {
        return error.what();
    }
    return {};
}

TEST(NumberArguments, AreInTheirRange) {
    for (const char* const text : {"0", "8", "3.5", "1e-45", "8.0"}) {
        EXPECT_THAT(error_of(text, 0.0F, 8.0F), IsEmpty()) << text;
        EXPECT_THAT(float_between(0.0F, 8.0F)(text), IsEmpty()) << text;
    }
    for (const char* const text : {"nan", "-nan", "inf", "-inf", "-1", "8.1", "3e38"}) {
        EXPECT_EQ(error_of(text, 0.0F, 8.0F),
                  std::string("--x '") + text + "' is not a number from 0 to 8");
        EXPECT_EQ(float_between(0.0F, 8.0F)(text),
                  std::string("'") + text + "' is not a number from 0 to 8");
    }
}

TEST(NumberArguments, SayWhatTheRangeIs) {
    EXPECT_EQ(error_of("inf"), "--x 'inf' is not a finite number");
    EXPECT_EQ(error_of("inf", 0.0F), "--x 'inf' is not a finite number of 0 or more");
    EXPECT_EQ(error_of("inf", 0.0F, INFINITE_FLOAT), "");
    EXPECT_EQ(error_of("-1", 0.0F, INFINITE_FLOAT), "--x '-1' is not a number of 0 or more");
    EXPECT_EQ(error_of("nan", -INFINITE_FLOAT, INFINITE_FLOAT), "--x 'nan' is not a number");
    EXPECT_EQ(error_of("1e39"), "--x '1e39' is outside the range of a 32-bit float");
    for (const char* const text : {"", "x", "1x", " 1", "0x1"}) {
        EXPECT_EQ(error_of(text), std::string("--x '") + text + "' is not a number");
    }
}

TEST(NumberArguments, AreSeparatedByCommas) {
    EXPECT_THAT(parse_floats("--x", "1,-2,3e3"), ElementsAre(1.0F, -2.0F, 3000.0F));
    EXPECT_THROW((void)parse_floats("--x", "1,,2"), UsageError);
    EXPECT_THROW((void)parse_floats("--x", "1,nan"), UsageError);
}

TEST(NumberArguments, AreWhole) {
    EXPECT_THAT(whole_between(0, ~std::uint64_t{0})("18446744073709551615"), IsEmpty());
    for (const char* const text : {"0", "9", "1.5", "-1", "nan", "", "18446744073709551616"}) {
        EXPECT_EQ(whole_between(1, 8)(text),
                  std::string("'") + text + "' is not a whole number from 1 to 8");
    }
}

TEST(Sizes, AreOneNumberOrTwo) {
    const auto error_of_size = [](std::string_view text, bool takes_one_number) {
        try {
            const Size size = parse_size("--x", text, 1024, takes_one_number);
            return std::to_string(size.width) + " by " + std::to_string(size.height);
        } catch (const UsageError& error) {
            return std::string(error.what());
        }
    };
    EXPECT_EQ(error_of_size("1x1024", false), "1 by 1024");
    EXPECT_EQ(error_of_size("7", true), "7 by 7");
    EXPECT_EQ(error_of_size("7", false),
              "--x takes a size like 1280x720, 1 to 1024 on a side, not '7'");
    for (const char* const text :
         {"", "x", "1x", "x1", "1x1x1", "0x1", "1025x1", "-1x1", "1.5x1"}) {
        EXPECT_EQ(error_of_size(text, true),
                  std::string("--x takes a size like 1024 or 1024x512, 1 to 1024 on a side, not "
                              "'") +
                      text + "'");
    }
}

}  // namespace
}  // namespace quadtile::app::test
