#include "flow/gallery.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tessera::flow {
namespace {

// The operations here are too small for threads, and threads that wait for each other on a busy
// machine make them a hundred times slower.
class OneThread : public testing::Environment {
  void SetUp() override { at::set_num_threads(1); }
};
const testing::Environment* const kOneThread = testing::AddGlobalTestEnvironment(new OneThread);

FlowOptions gallery_options() {
  FlowOptions options;
  options.points = 100;
  options.train.updates = 16;
  options.train.batch = 16;
  options.train.width = 8;
  options.train.runs = 2;
  options.samples = 20;
  options.sampler_steps = 3;
  return options;
}

const Gallery& gallery() {
  static const Gallery made =
      make_gallery(gallery_options(), at::kCPU, {"tessera flow --out <DIR>"});
  return made;
}

// What is wrong with the nesting of the tags; empty if nothing is.
std::string nesting_error(const std::string& text) {
  static const std::set<std::string> empty = {"meta", "input", "br", "!DOCTYPE", "?xml"};
  std::vector<std::string> open;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const size_t end = text.find('>', at);
    if (end == std::string::npos) return "a tag without end: " + text.substr(at, 40);
    const std::string tag = text.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(0, tag.find_first_of(" /\n", 1));
    at = end;
    if (tag.find('<') != std::string::npos) return "a tag within a tag: " + tag;
    if (tag.front() == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "unexpected <" + tag + ">";
      open.pop_back();
    } else if (tag.back() != '/' && !empty.contains(name)) {
      open.push_back(name);
      if (name == "script" || name == "style") {
        at = text.find("</" + name + ">", at);
        if (at == std::string::npos) return "<" + name + "> without end";
      }
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is not closed";
}

TEST(Gallery, HoldsThePageAndItsDrawings) {
  for (const char* name : {"index.html", "cells.svg", "forward.svg", "clock.svg", "contours.svg",
                           "density.svg", "reverse.svg", "learning.svg"}) {
    ASSERT_TRUE(gallery().files.contains(name)) << name;
    EXPECT_GT(gallery().files.at(name).size(), 1000u) << name;
  }
  EXPECT_EQ(gallery().files.size(), 11u);
}

TEST(Gallery, DrawsAFewWalksThatCanBeToldApart) {
  const std::string& svg = gallery().files.at("trajectories.svg");
  size_t lines = 0;
  for (size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++lines;
  EXPECT_LE(lines, 3 * 3u) << "three in each of three panels";
  EXPECT_GT(lines, 0u);
}

TEST(Gallery, NeedsNothingFromOutside) {
  for (const auto& [name, bytes] : gallery().files) {
    std::string text = bytes;
    const std::string name_space = "xmlns=\"http://www.w3.org/2000/svg\"";
    if (const size_t at = text.find(name_space); at != std::string::npos)
      text.erase(at, name_space.size());
    for (const char* reference : {"http:", "https:", "//", "src=", "href=", "url(", "@import",
                                  "fetch(", "<link", "<iframe"}) {
      // Comments of the script may begin with two slashes.
      if (std::string(reference) == "//" && name == "index.html") continue;
      EXPECT_EQ(text.find(reference), std::string::npos) << name << " has " << reference;
    }
  }
}

TEST(Gallery, IsWellFormed) {
  for (const auto& [name, bytes] : gallery().files) EXPECT_EQ(nesting_error(bytes), "") << name;
  EXPECT_NE(nesting_error("<p><b></p></b>"), "");
  EXPECT_NE(nesting_error("<p>"), "");
}

TEST(Gallery, HoldsNoNumbersThatAreNone) {
  for (const auto& [name, bytes] : gallery().files) {
    const std::string text = bytes.substr(0, bytes.find("<script>"));
    EXPECT_EQ(text.find("nan"), std::string::npos) << name;
    EXPECT_EQ(text.find("\"inf"), std::string::npos) << name;
  }
}

TEST(Gallery, EscapesTheCommand) {
  const std::string& html = gallery().files.at("index.html");
  EXPECT_NE(html.find("--out &lt;DIR&gt;"), std::string::npos);
}

TEST(Gallery, ShowsTheSectionsOfOthersAfterItsOwn) {
  const Gallery made = make_gallery(gallery_options(), at::kCPU, {"", "<section>more</section>\n"});
  const std::string& html = made.files.at("index.html");
  const size_t at = html.find("<section>more</section>");
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(at, html.find("The way back"));
  EXPECT_LT(at, html.find("</main>"));
}

TEST(Gallery, IsTheSameForTheSameSeed) {
  const Gallery again = make_gallery(gallery_options(), at::kCPU, {"tessera flow --out <DIR>"});
  EXPECT_EQ(gallery().files, again.files);
  FlowOptions other = gallery_options();
  other.seed = 2;
  EXPECT_NE(gallery().files, make_gallery(other, at::kCPU, {"tessera flow --out <DIR>"}).files);
}

TEST(Gallery, DrawsEveryTrajectoryAndBothKindsOfCells) {
  for (const auto& [kind, name] : EnumNames<TrajectoryKind>::values) {
    FlowOptions options = gallery_options();
    options.trajectory.kind = kind;
    options.cells = Cells::cones;
    options.codes = 12;
    options.no_exit = NoExit::zero;
    const Gallery made = make_gallery(options, at::kCPU, {""});
    EXPECT_EQ(nesting_error(made.files.at("index.html")), "") << name;
    EXPECT_EQ(made.files.at("forward.svg").find("nan"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace tessera::flow
