#include "drawing/page.h"

#include <tessera/version.h>

#include <fmt/format.h>

#include "drawing/palette.h"
#include "drawing/svg.h"
#include "files/hash.h"

namespace tessera::drawing {
namespace {

// Only scripts that carry this word run, and nothing is fetched from elsewhere: should a name or a
// sentence ever reach the page unescaped, it does nothing. The word depends on the whole page, so
// no text within can know it.
std::string policy(const std::string& word, bool asks_server) {
  return fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; script-src 'nonce-{}'{}\">\n",
      word, asks_server ? "; connect-src 'self'" : "");
}

}  // namespace

std::string page(const PageParts& parts) {
  const std::string word =
      content_hash(parts.title + parts.heading + parts.lead + parts.body + parts.footer);
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{}"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
      "<title>{}</title>\n<style>",
      policy(word, parts.asks_server), escaped(parts.title));
  html += kPageStyle;
  if (parts.has_figures) html += page_drawing_style();
  html += parts.style;
  html += fmt::format(
      "</style>\n</head>\n<body>\n<header>\n"
      "<button id=\"theme\" type=\"button\" hidden>Dark</button>\n"
      "<div class=\"mark\">Tessera</div>\n{}<h1>{}</h1>\n<p>{}</p>\n</header>\n<main>\n",
      parts.navigation, escaped(parts.heading), parts.lead);
  html += parts.body;
  html += "</main>\n<footer>\n" + parts.footer + "</footer>\n<script nonce=\"" + word + "\">";
  html += kThemeScript;
  html += parts.script;
  html += "</script>\n</body>\n</html>\n";
  return html;
}

std::string section(std::string_view title, std::string_view content) {
  // "r = 0" must not be torn apart at the end of a line.
  constexpr std::string_view kEquals = "</i> = ", kUnbroken = "</i>&nbsp;=&nbsp;";
  std::string html(content);
  for (size_t at = 0; (at = html.find(kEquals, at)) != std::string::npos; at += kUnbroken.size())
    html.replace(at, kEquals.size(), kUnbroken);
  return fmt::format("<section>\n<h2>{}</h2>\n{}</section>\n", title, html);
}

std::string panels(const Figure& figure, int columns, int narrow, std::string_view kind) {
  std::string html = fmt::format("<div class=\"panels {}\" style=\"--columns:{};--narrow:{}\">\n",
                                 kind, columns, narrow);
  for (const Panel& panel : figure.panels)
    html += fmt::format("<div class=\"panel\"><b>{}</b>\n{}</div>\n", escaped(panel.caption),
                        inline_svg(panel));
  return html + "</div>\n";
}

std::string captioned(std::string_view content, std::string_view caption) {
  return fmt::format("<figure>\n{}<figcaption>{}</figcaption>\n</figure>\n", content, caption);
}

std::string made_by(std::string_view command) {
  if (command.empty()) return fmt::format("<p>Made by Tessera {}</p>\n", version());
  return fmt::format("<p>Made by Tessera {} with</p>\n<p><code>{}</code></p>\n", version(),
                     escaped(command));
}

}  // namespace tessera::drawing
