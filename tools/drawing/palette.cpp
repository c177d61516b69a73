#include "drawing/palette.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace tessera::drawing {
namespace {

struct Palette {
  std::string_view paper, ink, faint, accent, plain;
  std::array<std::string_view, kHues> tile, mark;
};

// Stone and glass: quiet colours for tiles, strong ones of the same hue for what is drawn on them,
// and one accent that no tile has.
constexpr Palette kLight{
    .paper = "#fbf9f5",
    .ink = "#25231f",
    .faint = "#8b857a",
    .accent = "#d8321b",
    .plain = "#5c6470",
    .tile = {"#e9ddd0", "#d3dff0", "#f3e5bf", "#d3e7d5", "#dfd8ee", "#cde5e5", "#f1d8e1",
             "#e4e8c8"},
    .mark = {"#7a5c40", "#2f5d9e", "#94690f", "#2b7543", "#6a4fa6", "#17707c", "#a43e6c",
             "#646d1b"},
};
constexpr Palette kDark{
    .paper = "#16171a",
    .ink = "#ece8e0",
    .faint = "#8d8a84",
    .accent = "#ff6a45",
    .plain = "#a9b2c0",
    .tile = {"#393029", "#24324a", "#3b331f", "#22382a", "#322c48", "#1d3739", "#402935",
             "#313620"},
    .mark = {"#cfae8e", "#8db4ec", "#dfba5c", "#7fcb97", "#b9a5ea", "#6cc6cf", "#ec97bb",
             "#bdc668"},
};

// Style rules that do not depend on colour.
std::string shapes() {
  return R"(text{font-family:"Inter","Helvetica Neue",Arial,sans-serif;font-size:12px}
.tile{stroke-width:2.5;stroke-linejoin:round}
.code{stroke-width:1.5}
.name{font-size:13px;font-weight:600;text-anchor:middle}
.path{fill:none;stroke-width:2;stroke-linecap:round}
.skipped{fill:none;stroke-width:1.5;stroke-dasharray:1 4.5;stroke-linecap:round}
.tick{stroke-width:1.5}
.stop{fill:none;stroke-width:2.5}
.dots{fill:none;stroke-width:2.6;stroke-linecap:round;stroke-opacity:.8}
.ring{fill:none;stroke-width:1.8;stroke-linejoin:round}
.early{stroke-opacity:.4}
.middling{stroke-opacity:.65}
.trail{fill:none;stroke-width:1.3;stroke-linejoin:round;stroke-linecap:round;stroke-opacity:.85}
.hop{fill:none;stroke-width:1;stroke-dasharray:2 3;stroke-opacity:.75}
.wrong{fill:none;stroke-width:2.4;stroke-linecap:round}
.halo{fill:none;stroke-width:5;stroke-linecap:round}
.axis{fill:none;stroke-width:1}
.grid{fill:none;stroke-width:1;stroke-opacity:.22}
.curve{fill:none;stroke-width:2.5;stroke-linejoin:round;stroke-linecap:round}
.dashed{stroke-dasharray:5 5}
.run{fill:none;stroke-width:1;stroke-opacity:.35;stroke-linejoin:round}
.band{fill-opacity:.16}
.end{text-anchor:end}
.middle{text-anchor:middle}
text.chart{font-size:11px}
.label{font-weight:600;paint-order:stroke;stroke-width:8;stroke-linejoin:round}
.caption{font-size:14px;font-weight:600}
.title{font-size:18px;font-weight:600}
)";
}

std::string colours(const Palette& palette, std::string_view scope) {
  std::string css;
  const auto rule = [&](std::string_view selector, std::string_view property,
                        std::string_view colour) {
    css += fmt::format("{}{}{{{}:{}}}\n", scope, selector, property, colour);
  };
  rule(".paper", "fill", palette.paper);
  rule("text", "fill", palette.ink);
  rule("text.faint", "fill", palette.faint);
  rule(".tile", "stroke", palette.paper);
  rule(".code", "stroke", palette.paper);
  rule(".tick", "stroke", palette.paper);
  rule(".stop", "stroke", palette.accent);
  rule(".wrong", "stroke", palette.accent);
  rule(".halo", "stroke", palette.paper);
  rule("text.label", "stroke", palette.paper);
  rule(".axis", "stroke", palette.faint);
  rule(".grid", "stroke", palette.faint);
  rule(".plain", "stroke", palette.plain);
  rule(".plain-fill", "fill", palette.plain);
  rule(".half", "stroke", palette.mark[2]);
  rule(".half-fill", "fill", palette.mark[2]);
  rule(".boundary", "stroke", palette.accent);
  rule(".boundary-fill", "fill", palette.accent);
  for (int64_t hue = 0; hue < kHues; ++hue) {
    rule(fmt::format(".t{}", hue), "fill", palette.tile[hue]);
    rule(fmt::format(".f{}", hue), "fill", palette.mark[hue]);
    rule(fmt::format(".s{}", hue), "stroke", palette.mark[hue]);
  }
  return css;
}

std::string variables(const Palette& palette) {
  std::string css;
  for (int64_t hue = 0; hue < kHues; ++hue)
    css += fmt::format("--tile-{0}:{1};--mark-{0}:{2};", hue, palette.tile[hue], palette.mark[hue]);
  return css;
}

}  // namespace

std::string drawing_style() {
  return shapes() + colours(kLight, "") + "@media (prefers-color-scheme:dark){\n" +
         colours(kDark, "") + "}\n";
}

std::string page_drawing_style() {
  return shapes() + colours(kLight, "svg ") + "@media (prefers-color-scheme:dark){\n" +
         colours(kDark, ":root:not([data-theme=light]) svg ") + "}\n" +
         colours(kDark, ":root[data-theme=dark] svg ");
}

std::string page_colours() {
  return fmt::format(
      ":root{{{0}}}\n@media (prefers-color-scheme:dark){{:root:not([data-theme=light]){{{1}}}}}\n"
      ":root[data-theme=dark]{{{1}}}\n",
      variables(kLight), variables(kDark));
}

}  // namespace tessera::drawing
