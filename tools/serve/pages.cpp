#include "serve/pages.h"

#include "drawing/page.h"
#include "drawing/palette.h"
#include "serve/page_texts.h"
#include "serve/routes.h"

#include <tessera/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tessera::serve {
namespace {

// Also said within the page, where only its own script is allowed. Pages cannot be put into others,
// because a click there might spend the time of this server.
constexpr std::string_view kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src "
    "'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

struct PageTexts {
  std::string_view heading, lead, html, css, js;
};

// Sent without what only serves those who read the sources.
std::string unindented(std::string_view text) {
  std::string result;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && c == ' ') continue;
    at_start = c == '\n';
    result += c;
  }
  return result;
}

std::string page_link(std::string_view path, std::string_view name, bool here) {
  return fmt::format("<a href=\"{}\"{}>{}</a>\n", path, here ? " aria-current=\"page\"" : "", name);
}

// A script of its own each, in one element.
std::string page_of(const PageTexts& texts, const std::string& navigation) {
  return drawing::page(
      {.title = fmt::format("{} · Tessera", texts.heading),
       .heading = std::string(texts.heading),
       .lead = std::string(texts.lead),
       .body = std::string(texts.html),
       .footer = fmt::format("<p id=\"attribution\" hidden></p>\n<p>Tessera {}</p>\n", version()),
       .script = unindented(kCommonJs) + unindented(texts.js),
       .navigation = navigation,
       .style = drawing::page_colours() + unindented(kCommonCss) + unindented(texts.css),
       .has_figures = false,
       .asks_server = true});
}

std::string page_navigation(bool both, bool images) {
  if (!both) return {};
  return fmt::format("<nav aria-label=\"Pages\">\n{}{}</nav>\n",
                     page_link("./", "Sentences", !images), page_link("images", "Images", images));
}

HttpResponse page_response(const std::string& html) {
  return {.type = "text/html; charset=utf-8",
          .body = html,
          .headers = {{"Content-Security-Policy", std::string(kPagePolicy)},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cache-Control", "no-cache"}}};
}

// Paths of pages are asked for by people, so errors are sentences.
HttpResponse page_refusal(const Refusal& refusal) {
  return {.status = refusal.status(),
          .type = "text/plain; charset=utf-8",
          .body = fmt::format("{}\n{}\n", refusal.what(), refusal.hint())};
}

Route page_route(std::string path, std::string html) {
  return {.method = "GET",
          .path = std::move(path),
          .open = true,
          .answer = [html = std::make_shared<const std::string>(std::move(html))](
                        const HttpRequest&) { return page_response(*html); },
          .refused = page_refusal};
}

}  // namespace

std::string text_page(bool images) {
  return page_of({.heading = "Watch a sentence condense",
                  .lead = "It begins as noise. In a few steps the noise settles into words, "
                          "everywhere at once, like the tiles of a mosaic.",
                  .html = kTranslateHtml,
                  .css = kTranslateCss,
                  .js = kTranslateJs},
                 page_navigation(images, false));
}

std::string image_page(bool texts) {
  return page_of({.heading = "Watch pictures condense",
                  .lead = "Each begins as noise. Step by step the noise settles into a picture "
                          "that nobody has seen before.",
                  .html = kImagesHtml,
                  .css = kImagesCss,
                  .js = kImagesJs},
                 page_navigation(texts, true));
}

std::vector<Route> page_routes(const Service& service) {
  const auto models = service.models();
  const auto makes_images = [](const ModelFacts& model) { return model.makes_images; };
  const bool images = std::ranges::any_of(models, makes_images);
  const bool texts = models.empty() || !std::ranges::all_of(models, makes_images);
  std::vector<Route> routes;
  // The first page is that of the models there are.
  routes.push_back(page_route("/", texts ? text_page(images) : image_page(false)));
  if (images) routes.push_back(page_route("/images", image_page(texts)));
  return routes;
}

}  // namespace tessera::serve
