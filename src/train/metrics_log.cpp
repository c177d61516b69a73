#include "train/metrics_log.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "files/own_file.h"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>

namespace tessera::train {

namespace fs = std::filesystem;
namespace {

using nlohmann::ordered_json;

struct Line {
  std::string_view text;
  ordered_json value;  // is_discarded() if the line is broken
};

std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    ordered_json value = ordered_json::parse(line, nullptr, false);
    if (!value.is_object()) value = ordered_json(ordered_json::value_t::discarded);
    lines.push_back({line, std::move(value)});
  }
  return lines;
}

bool is_after(const ordered_json& value, int64_t last_step) {
  const auto step = value.find("step");
  return step != value.end() && step->is_number_integer() && step->get<int64_t>() > last_step;
}

std::string text_of(const fs::path& path) {
  return is_there(path) ? read_file(path) : std::string();
}

// Rewrites the file without the lines that must not stay.
void drop_lines(const fs::path& path, int64_t last_step) {
  const std::string text = text_of(path);
  std::string kept;
  int64_t broken = 0;
  for (const Line& line : lines_of(text)) {
    if (line.value.is_discarded())
      ++broken;
    else if (!is_after(line.value, last_step))
      kept.append(line.text).append("\n");
  }
  if (broken > 0)
    log::warn("'{}': {} dropped", path.string(),
              counted(broken, "broken line is", "broken lines are"));
  if (kept != text) write_file_atomically(path, kept);
}

// The error code, or 0.
int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return 0;
}

}  // namespace

MetricsLog::MetricsLog(const fs::path& path, int64_t last_step) : path_(path) {
  refuse_link(path);
  drop_lines(path, last_step);
  descriptor_ = open_own_file(path, O_WRONLY | O_APPEND);
}

MetricsLog::~MetricsLog() {
  ::close(descriptor_);
}

void MetricsLog::write(int64_t step, const ordered_json& values) {
  ordered_json line = {{"step", step}};
  line.update(values);
  const std::string text = line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";

  struct stat before {};
  ::fstat(descriptor_, &before);
  if (const int code = write_all(descriptor_, text); code != 0) {
    // Half a line would spoil the next one too. Truncating a file needs no disk space.
    if (::ftruncate(descriptor_, before.st_size) != 0) log::debug("a broken line stays");
    if (lost_++ == 0) log::warn("{}; the run goes on", file_error("write", path_, code).what());
  } else if (lost_ > 0) {
    log::warn("'{}' can be written to again, {} lost", path_.string(),
              counted(lost_, "line is", "lines are"));
    lost_ = 0;
  }
}

std::vector<ordered_json> MetricsLog::read(const fs::path& path) {
  const std::string text = text_of(path);
  std::vector<ordered_json> values;
  for (Line& line : lines_of(text))
    if (!line.value.is_discarded()) values.push_back(std::move(line.value));
  return values;
}

}  // namespace tessera::train
