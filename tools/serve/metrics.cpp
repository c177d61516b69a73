#include "serve/metrics.h"

#include "base/require.h"

#include <tessera/base/enum_names.h>
#include <tessera/version.h>

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

template <>
struct tessera::EnumNames<tessera::serve::RefusedBecause> {
  using Why = tessera::serve::RefusedBecause;
  static constexpr std::string_view what = "reason";
  static constexpr std::array<std::pair<Why, std::string_view>, 9> values{
      {{Why::invalid, "invalid"},
       {Why::token, "token"},
       {Why::size, "size"},
       {Why::full, "full"},
       {Why::loading, "loading"},
       {Why::draining, "draining"},
       {Why::deadline, "deadline"},
       {Why::memory, "memory"},
       {Why::failure, "failure"}}};
};

namespace tessera::serve {
namespace {

std::vector<double> seconds_bounds() {
  return {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
}
std::vector<double> count_bounds() {
  return {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
}
std::vector<double> token_bounds() {
  return {64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072};
}

// A value of a label: quotes, backslashes and line ends have escapes.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '\n') {
      result += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

template <class Value>
void single(std::string& text, std::string_view name, std::string_view type, std::string_view help,
            Value value) {
  head(text, name, type, help);
  fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

// Numbers of the process after its name in parentheses: /proc/self/stat from field 3 on.
std::vector<std::string> process_fields() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t name_end = line.rfind(')');
  std::istringstream rest(name_end == std::string::npos ? "" : line.substr(name_end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

int64_t open_files() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return 0;
  int64_t count = -3;  // ".", ".." and the folder itself
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

double boot_seconds() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("btime ")) return std::strtod(line.c_str() + 6, nullptr);
  return 0;
}

void write_process(std::string& text) {
  const auto fields = process_fields();
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  single(text, "process_cpu_seconds_total", "counter", "User and system CPU time.",
         in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime));
  single(text, "process_open_fds", "gauge", "Open file descriptors.", open_files());
  if (fields.size() < 22) return;
  single(text, "process_resident_memory_bytes", "gauge", "Resident memory.",
         std::strtoll(fields[21].c_str(), nullptr, 10) * ::sysconf(_SC_PAGESIZE));
  single(text, "process_start_time_seconds", "gauge", "When the process began, in Unix time.",
         boot_seconds() + std::strtod(fields[19].c_str(), nullptr) /
                              static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

}  // namespace

Histogram::Histogram(std::vector<double> bounds) : bounds_(std::move(bounds)) {
  require(bounds_.size() <= kMostBounds && std::ranges::is_sorted(bounds_),
          "bounds of a histogram must be few and ascending");
}

void Histogram::add(double value) {
  const auto place =
      static_cast<size_t>(std::ranges::lower_bound(bounds_, value) - bounds_.begin());
  counts_[place].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
}

void Histogram::write(std::string& text, std::string_view name, std::string_view labels) const {
  const auto out = std::back_inserter(text);
  const std::string_view comma = labels.empty() ? "" : ",";
  uint64_t sum = 0;
  for (size_t k = 0; k < bounds_.size(); ++k) {
    sum += counts_[k].load(std::memory_order_relaxed);
    fmt::format_to(out, "{}_bucket{{{}{}le=\"{:g}\"}} {}\n", name, labels, comma, bounds_[k], sum);
  }
  sum += counts_[bounds_.size()].load(std::memory_order_relaxed);
  fmt::format_to(out, "{}_bucket{{{}{}le=\"+Inf\"}} {}\n", name, labels, comma, sum);
  const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  fmt::format_to(out, "{}_sum{} {}\n{}_count{} {}\n", name, braces,
                 sum_.load(std::memory_order_relaxed), name, braces, sum);
}

Metrics::Route::Route(std::string pattern_)
    : pattern(std::move(pattern_)), seconds(seconds_bounds()) {}

Metrics::Model::Model(std::string name_, std::string kind_, std::string languages_)
    : name(std::move(name_)),
      kind(std::move(kind_)),
      languages(std::move(languages_)),
      batch_texts(count_bounds()),
      batch_tokens(token_bounds()),
      batch_seconds(seconds_bounds()) {}

Metrics::Metrics() : queue_seconds(seconds_bounds()) {}

Metrics::Route& Metrics::add_route(std::string pattern) {
  for (const auto& route : routes_)  // GET and POST of a path are one
    if (route->pattern == pattern) return *route;
  return *routes_.emplace_back(std::make_unique<Route>(std::move(pattern)));
}

Metrics::Model& Metrics::add_model(std::string name, std::string kind, std::string languages) {
  return *models_.emplace_back(
      std::make_unique<Model>(std::move(name), std::move(kind), std::move(languages)));
}

std::string Metrics::text() const {
  std::string text;
  const auto out = std::back_inserter(text);
  head(text, "tessera_build_info", "gauge", "Versions, and where models are computed.");
  fmt::format_to(out, "tessera_build_info{{version=\"{}\",torch=\"{}\",device=\"{}\"}} 1\n",
                 version(), TORCH_VERSION, escaped(device_));
  head(text, "tessera_model_info", "gauge", "Models that are served.");
  for (const auto& model : models_)
    fmt::format_to(out, "tessera_model_info{{model=\"{}\",kind=\"{}\",languages=\"{}\"}} 1\n",
                   escaped(model->name), model->kind, escaped(model->languages));

  head(text, "tessera_http_requests_total", "counter", "Answered requests.");
  for (const auto& route : routes_)
    for (size_t status = 0; status < route->by_status.size(); ++status)
      if (const uint64_t count = route->by_status[status].load(); count > 0)
        fmt::format_to(out, "tessera_http_requests_total{{route=\"{}\",code=\"{}\"}} {}\n",
                       escaped(route->pattern), status, count);
  head(text, "tessera_http_request_seconds", "histogram",
       "Time from a request to its answer; of streams, to their beginning.");
  for (const auto& route : routes_)
    route->seconds.write(text, "tessera_http_request_seconds",
                         fmt::format("route=\"{}\"", escaped(route->pattern)));
  head(text, "tessera_refused_total", "counter", "Requests that were not served, and why.");
  for (const auto& [reason, name] : EnumNames<RefusedBecause>::values)
    fmt::format_to(out, "tessera_refused_total{{reason=\"{}\"}} {}\n", name,
                   refused_[static_cast<size_t>(reason)].load());

  single(text, "tessera_queue_texts", "gauge", "Texts and images that wait.", queue_texts.load());
  head(text, "tessera_queue_seconds", "histogram", "Time jobs waited before they began.");
  queue_seconds.write(text, "tessera_queue_seconds", "");
  const auto of_models = [&](std::string_view name, std::string_view help,
                             Histogram Model::*histogram) {
    head(text, name, "histogram", help);
    for (const auto& model : models_)
      ((*model).*histogram).write(text, name, fmt::format("model=\"{}\"", escaped(model->name)));
  };
  of_models("tessera_batch_texts", "Texts or images computed together.", &Model::batch_texts);
  of_models("tessera_batch_tokens", "Candidates x symbols computed together; of images, images.",
            &Model::batch_tokens);
  of_models("tessera_batch_seconds", "Time a batch took.", &Model::batch_seconds);
  head(text, "tessera_network_calls_total", "counter", "Calls of the network, one for a batch.");
  for (const auto& model : models_)
    fmt::format_to(out, "tessera_network_calls_total{{model=\"{}\"}} {}\n", escaped(model->name),
                   model->network_calls.load());
  single(text, "tessera_abandoned_total", "counter",
         "Jobs that were given up: the client left, or the server ended.", abandoned.load());
  single(text, "tessera_in_flight", "gauge", "Requests being answered.", in_flight.load());
  single(text, "tessera_streams", "gauge", "Event streams under way.", streams.load());
  single(text, "tessera_connections", "gauge", "Open connections.", connections.load());
  write_process(text);
  return text;
}

}  // namespace tessera::serve
