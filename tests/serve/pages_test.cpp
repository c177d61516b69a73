#include "serve/pages.h"

#include "serve/page_texts.h"
#include "serve/routes.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::serve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// Pages are made of what the service says of its models, and nothing else.
class PageService : public Service {
 public:
  explicit PageService(std::vector<ModelFacts> models) : models_(std::move(models)) {}

  std::span<const ModelFacts> models() const override { return models_; }
  const Engine& engine(size_t) const override { throw Error("there is no engine"); }
  TextAnswer translate(TextJob) override { throw Error("there is no engine"); }
  ImageAnswer sample(ImageJob) override { throw Error("there is no engine"); }

 private:
  std::vector<ModelFacts> models_;
};

const ModelFacts kText{.name = "text", .makes_images = false};
const ModelFacts kImages{.name = "images", .makes_images = true};

std::vector<Route> routes_of(std::vector<ModelFacts> models) {
  return page_routes(PageService(std::move(models)));
}

HttpResponse get(const std::vector<Route>& routes, const std::string& path) {
  const auto found = std::ranges::find(routes, path, &Route::path);
  if (found == routes.end()) return {.status = 404};
  EXPECT_EQ(found->method, "GET");
  EXPECT_TRUE(found->open);
  return found->answer({.path = path});
}

std::string header(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers)
    if (key == name) return value;
  return "";
}

TEST(ServePages, AreServedWithHeadersThatKeepThemToThisServer) {
  const auto routes = routes_of({kText, kImages});
  for (const char* path : {"/", "/images"}) {
    const HttpResponse page = get(routes, path);
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.type, "text/html; charset=utf-8");
    const std::string policy = header(page, "Content-Security-Policy");
    for (const char* rule : {"default-src 'none'", "connect-src 'self'", "img-src data:",
                             "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"})
      EXPECT_THAT(policy, HasSubstr(rule));
    EXPECT_THAT(policy, Not(HasSubstr("http")));
    EXPECT_EQ(header(page, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(header(page, "Referrer-Policy"), "no-referrer");
    EXPECT_EQ(header(page, "Cache-Control"), "no-cache");
    // The page may ask the server, and runs no script but its own.
    EXPECT_THAT(page.body, HasSubstr("script-src 'nonce-"));
    EXPECT_THAT(page.body, HasSubstr("; connect-src 'self'"));
  }
}

TEST(ServePages, ThePageThatIsServedFirstIsThatOfTheModels) {
  const std::string sentences = "id=\"q\"", pictures = "id=\"gallery\"", links = "<nav";
  EXPECT_THAT(get(routes_of({kText}), "/").body,
              AllOf(HasSubstr(sentences), Not(HasSubstr(links))));
  EXPECT_EQ(get(routes_of({kText}), "/images").status, 404);
  for (const char* path : {"/", "/images"})
    EXPECT_THAT(get(routes_of({kImages}), path).body,
                AllOf(HasSubstr(pictures), Not(HasSubstr(links))));
  const auto both = routes_of({kImages, kText});
  EXPECT_THAT(get(both, "/").body, AllOf(HasSubstr(sentences), HasSubstr(links)));
  EXPECT_THAT(get(both, "/images").body, AllOf(HasSubstr(pictures), HasSubstr(links)));
  EXPECT_THAT(get(routes_of({}), "/").body, HasSubstr(sentences));
}

TEST(ServePages, RefusalsAreSentences) {
  const Route route = routes_of({kText}).front();
  ASSERT_NE(route.refused, nullptr);
  const HttpResponse response = route.refused(Refusal(503, "the server is loading", "try later"));
  EXPECT_EQ(response.status, 503);
  EXPECT_EQ(response.body, "the server is loading\ntry later\n");
  EXPECT_THAT(response.type, HasSubstr("text/plain"));
}

TEST(ServePages, AreSmallAndNeedNothingFromElsewhere) {
  static const std::regex elsewhere(
      R"((src|href|action|url|import|fetch)\s*[=(]\s*["']?\s*(https?:|//))", std::regex::icase);
  for (const std::string& html : {text_page(true), image_page(true)}) {
    EXPECT_LT(html.size(), 60'000u);
    EXPECT_FALSE(std::regex_search(html, elsewhere));
    for (const char* address : {"http://", "https://", "@import", "<link", "<iframe", "ws://"})
      EXPECT_THAT(html, Not(HasSubstr(address)));
  }
}

// Texts of models are put into pages as text, never as HTML.
TEST(ServePages, ScriptsWriteNoHtml) {
  for (const std::string_view script : {kCommonJs, kTranslateJs, kImagesJs})
    for (const char* way : {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write",
                            "createContextualFragment", "DOMParser", "eval(", "new Function"})
      EXPECT_THAT(std::string(script), Not(HasSubstr(way)));
}

// Every element that a script asks for by its id is in its page, once.
TEST(ServePages, ScriptsFindTheirElements) {
  static const std::regex asked(R"re(\$\('([a-z-]+)'\))re"), named(R"re(\bid="([a-z-]+)")re");
  const auto matches = [](const std::string& text, const std::regex& pattern) {
    std::multiset<std::string> found;
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
      found.insert((*it)[1]);
    return found;
  };
  for (const auto& [html, script] :
       {std::pair{text_page(true), kTranslateJs}, std::pair{image_page(true), kImagesJs}}) {
    const auto ids = matches(html, named);
    for (const std::string& id : ids) EXPECT_EQ(ids.count(id), 1u) << id;
    const auto wanted = matches(std::string(kCommonJs) + std::string(script), asked);
    EXPECT_GT(wanted.size(), 20u);
    for (const std::string& id : wanted) EXPECT_EQ(ids.count(id), 1u) << id;
  }
}

// What follows the texts in the program is no part of them, and nothing of them is lost.
TEST(ServePages, TextsAreWhole) {
  for (const std::string_view text : {kCommonCss, kTranslateCss, kImagesCss}) {
    EXPECT_TRUE(text.starts_with("/*"));
    EXPECT_TRUE(text.ends_with("}\n"));
    EXPECT_EQ(std::ranges::count(text, '{'), std::ranges::count(text, '}'));
  }
  for (const std::string_view text : {kCommonJs, kTranslateJs, kImagesJs})
    EXPECT_TRUE(text.ends_with("})();\n"));
  for (const std::string_view text : {kTranslateHtml, kImagesHtml})
    EXPECT_TRUE(text.starts_with("<section") && text.ends_with("</section>\n"));
  EXPECT_THAT(std::string(kTranslateJs), HasSubstr("□"));
}

}  // namespace
}  // namespace tessera::serve
