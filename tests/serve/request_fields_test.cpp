#include "serve/interfaces/request_fields.h"

#include "serve/fake_translator.h"
#include "serve/refusal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::serve {
namespace {

using test::form_request;
using test::json_request;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

HttpRequest multipart(const std::string& body, const std::string& boundary = "X") {
  return {.method = "POST",
          .headers = {{"content-type", "multipart/form-data; boundary=" + boundary}},
          .body = body};
}

std::string complaint_about(const HttpRequest& request) {
  try {
    RequestFields fields(request);
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 400);
    return refusal.what();
  }
  return "none";
}

TEST(RequestFields, OfJsonHaveTypes) {
  const RequestFields fields(json_request(
      "/", R"({"q": ["a", "ä"], "n": 3, "f": 4.0, "s": "5", "b": true, "none": null, "x": "y"})"));
  EXPECT_TRUE(fields.typed());
  EXPECT_TRUE(fields.is_list("q"));
  EXPECT_FALSE(fields.is_list("x"));
  EXPECT_THAT(fields.texts("q"), Optional(ElementsAre("a", "ä")));
  EXPECT_THAT(fields.texts("x"), Optional(ElementsAre("y")));
  EXPECT_EQ(fields.number("n"), 3);
  EXPECT_EQ(fields.number("f"), 4);
  EXPECT_EQ(fields.number("s"), 5);
  EXPECT_EQ(fields.truth("b"), true);
  EXPECT_EQ(fields.text("none"), std::nullopt);
  EXPECT_EQ(fields.text("absent"), std::nullopt);
}

TEST(RequestFields, OfAFormAreDecoded) {
  HttpRequest request = form_request("/", "q=a+b%21%zz%C3%A4&&q=c&empty&n=7&=x&target=en");
  request.query = {{"target", "fr"}, {"only", "query"}};
  const RequestFields fields(request);
  EXPECT_FALSE(fields.typed());
  EXPECT_EQ(fields.text("q"), "a b!%zzä");
  EXPECT_THAT(fields.texts("q"), Optional(ElementsAre("a b!%zzä", "c")));
  EXPECT_FALSE(fields.is_list("q"));
  EXPECT_EQ(fields.text("empty"), "");
  EXPECT_EQ(fields.number("n"), 7);
  EXPECT_EQ(fields.text("target"), "fr") << "the query goes first";
  EXPECT_EQ(fields.text("only"), "query");
}

TEST(RequestFields, OfAQueryNeedNoBody) {
  EXPECT_EQ(RequestFields({.query = {{"q", "a"}}}).text("q"), "a");
  EXPECT_EQ(RequestFields(HttpRequest{}).text("q"), std::nullopt);
}

TEST(RequestFields, OfAMultipartForm) {
  const RequestFields fields(multipart(
      "preamble\r\n--X\r\nContent-Disposition: form-data; name=\"q\"\r\n\r\nein\r\nHund\r\n"
      "--X\r\ncontent-disposition: form-data; name=empty\r\n\r\n\r\n"
      "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a;b.txt\"\r\n"
      "Content-Type: text/plain\r\n\r\nx\r\n--X--\r\nepilogue"));
  EXPECT_EQ(fields.text("q"), "ein\r\nHund");
  EXPECT_EQ(fields.text("empty"), "");
  EXPECT_EQ(fields.text("file"), std::nullopt);
}

TEST(RequestFields, RefuseBodiesThatCannotBeRead) {
  EXPECT_THAT(complaint_about(json_request("/", "{")), HasSubstr("JSON"));
  EXPECT_THAT(complaint_about(json_request("/", "[1]")), HasSubstr("not an object"));
  EXPECT_THAT(complaint_about(json_request("/", R"({"q": "\ud800"})")), HasSubstr("surrogate"));
  EXPECT_THAT(complaint_about(json_request("/", R"({"q": 1e999})")), HasSubstr("number"));
  EXPECT_THAT(complaint_about(json_request("/", std::string(100'000, '['))), HasSubstr("deeper"));
  EXPECT_THAT(complaint_about(form_request("/", "q=%FF")), HasSubstr("q is not UTF-8"));
  EXPECT_THAT(complaint_about(form_request("/", "%FF=q")), HasSubstr("not UTF-8"));
  std::string many;
  for (int k = 0; k < 1001; ++k) many += "a&";
  EXPECT_THAT(complaint_about(form_request("/", many)), HasSubstr("1000 fields"));
  EXPECT_THAT(complaint_about({.headers = {{"content-type", "text/plain"}}, .body = "q=a"}),
              HasSubstr("text/plain"));
  EXPECT_THAT(complaint_about({.body = "{}"}), HasSubstr("Content-Type"));
}

TEST(RequestFields, RefuseBrokenMultipartForms) {
  for (const char* body :
       {"", "--X", "--X\r\n", "--X\r\n--X\r\n", "--X\r\n--X--",
        "--X\r\nContent-Disposition: form-data; name=q\r\n\r\nabc", "--Y--", "--X\r\n\r\n\r\n--X--",
        "--X\r\nContent-Disposition: form-data; name=q\r\n--X--"})
    EXPECT_THAT(complaint_about(multipart(body)), HasSubstr("form")) << body;
  EXPECT_THAT(complaint_about(multipart("--X--", "")), HasSubstr("boundary"));
  EXPECT_THAT(complaint_about(multipart("--X--", std::string(300, 'X'))), HasSubstr("boundary"));
}

TEST(RequestFields, NameTheFieldOfAnotherType) {
  const RequestFields fields(json_request(
      "/", R"({"q": 5, "l": ["a", 1], "n": "x", "f": 1.5, "big": 18446744073709551615, "b": "maybe",
               "o": {}})"));
  const auto complaint = [](auto read) {
    try {
      read();
    } catch (const Refusal& refusal) {
      return refusal.field + ": " + refusal.what();
    }
    return std::string("none");
  };
  EXPECT_EQ(complaint([&] { fields.text("q"); }), "q: q must be a string");
  EXPECT_EQ(complaint([&] { fields.texts("q"); }), "q: q must be a string or a list of strings");
  EXPECT_EQ(complaint([&] { fields.texts("l"); }), "l: l must be a string or a list of strings");
  EXPECT_EQ(complaint([&] { fields.texts("o"); }), "o: o must be a string or a list of strings");
  EXPECT_EQ(complaint([&] { fields.number("n"); }), "n: n must be a whole number");
  EXPECT_EQ(complaint([&] { fields.number("f"); }), "f: f must be a whole number");
  EXPECT_EQ(complaint([&] { fields.number("big"); }), "big: big must be a whole number");
  EXPECT_EQ(complaint([&] { fields.number("l"); }), "l: l must be a whole number");
  EXPECT_EQ(complaint([&] { fields.truth("b"); }), "b: b must be true or false");
}

}  // namespace
}  // namespace tessera::serve
