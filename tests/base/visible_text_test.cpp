#include "base/visible_text.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(VisibleText, LeavesTextAsItIs) {
  for (const char* text : {"", "plain", "two\nlines\tand a tab", "Grüße, 日本語, 😀 ± “x”"})
    EXPECT_EQ(visible(text), text);
}

TEST(VisibleText, ShowsWhatWouldSteerATerminal) {
  EXPECT_EQ(visible("a\x1b[31mb\x07"), "a\\x1b[31mb\\x07");
  EXPECT_EQ(visible("over\rwritten\x7f"), "over\\x0dwritten\\x7f");
  EXPECT_EQ(visible(std::string_view("nul\0", 4)), "nul\\x00");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\x9b31m");  // one character for ESC [
  EXPECT_EQ(visible("a\xe2\x80\xae"
                    "b"),
            "a\\u202eb");  // right-to-left override
}

TEST(VisibleText, ShowsBytesThatAreNoText) {
  EXPECT_EQ(visible("\xff\x9b"
                    "a\xc3"),
            "\\xff\\x9ba\\xc3");
  EXPECT_EQ(visible("\xe2\x82"), "\\xe2\\x82");
}

}  // namespace
}  // namespace tessera
