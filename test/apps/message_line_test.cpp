#include "process.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace quadtile::app::test {
namespace {

TEST(MessageLine, IsOneLine) {
    EXPECT_EQ(message_line("quadtile: error", "cannot read 'a\nb\r\tc'"),
              "quadtile: error: cannot read 'a b  c'");
}

TEST(MessageLine, KeepsText) {
    const std::string text = "caf\u00e9 \u20ac \U0001f5fa \u00a0 \uffff \U0010ffff";
    EXPECT_EQ(message_line("quadtile: error", text), "quadtile: error: " + text);
}

TEST(MessageLine, ShowsWhatATerminalMayObey) {
    EXPECT_EQ(message_line("quadtile: error", "\x1b[2J\x7f"), "quadtile: error: \\x1b[2J\\x7f");
    EXPECT_EQ(message_line("quadtile: error", "\xc2\x9b"), "quadtile: error: \\xc2\\x9b");
    EXPECT_EQ(message_line("quadtile: error", std::string_view("\0", 1)), "quadtile: error: \\x00");
}

TEST(MessageLine, ShowsBytesThatAreNoText) {
    for (const auto& [bytes, shown] : {
             std::pair("\xff", "\\xff"),           // in no character
             std::pair("\x80x", "\\x80x"),         // the middle of one
             std::pair("\xe2\x82", "\\xe2\\x82"),  // cut off
             std::pair("\xe2\x82x", "\\xe2\\x82x"),
             std::pair("\xc1\x81", "\\xc1\\x81"),  // longer than needed
             std::pair("\xe0\x9f\xbf", "\\xe0\\x9f\\xbf"),
             std::pair("\xed\xa0\x80", "\\xed\\xa0\\x80"),           // half of a pair of UTF-16
             std::pair("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"),  // behind the last one
         }) {
        EXPECT_EQ(message_line("quadtile: error", bytes), std::string("quadtile: error: ") + shown);
    }
}

}  // namespace
}  // namespace quadtile::app::test
