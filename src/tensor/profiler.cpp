#include "tensor/profiler.h"

#include "base/require.h"
#include "tensor/device.h"

#include <fmt/format.h>
#include <torch/csrc/autograd/profiler_kineto.h>

#include <algorithm>
#include <map>
#include <set>

namespace tessera {
namespace {

namespace kineto = torch::autograd::profiler;
using torch::profiler::impl::ActivityType;

struct Span {
  uint64_t begin, end;  // nanoseconds
};

std::vector<const kineto::KinetoEvent*> work_of(const kineto::ProfilerResult& result,
                                                c10::Device device) {
  std::vector<const kineto::KinetoEvent*> work;
  for (const kineto::KinetoEvent& event : result.events())
    if (event.deviceType() == device.type()) work.push_back(&event);
  // Of events that begin together the longest is the caller.
  std::stable_sort(work.begin(), work.end(), [](const auto* a, const auto* b) {
    return a->startNs() != b->startNs() ? a->startNs() < b->startNs() : a->endNs() > b->endNs();
  });
  return work;
}

// Time in at least one of the spans, which are sorted by their begin.
uint64_t covered(const std::vector<const kineto::KinetoEvent*>& work) {
  uint64_t total = 0, reached = 0;
  for (const auto* event : work) {
    const Span span{std::max(event->startNs(), reached), event->endNs()};
    if (span.end > span.begin) total += span.end - span.begin;
    reached = std::max(reached, span.end);
  }
  return total;
}

// A kernel's name without its arguments, which are long and say little.
std::string short_name(const std::string& name) {
  constexpr size_t kLongest = 100;
  std::string text = name.starts_with("void ") ? name.substr(5) : name;
  return text.size() <= kLongest ? text : text.substr(0, kLongest);
}

}  // namespace

std::string Profile::table(size_t count) const {
  std::string text = fmt::format("{:.1f} ms, of which {:.1f} % with work in progress\n",
                                 1e3 * seconds, 100 * busy / seconds);
  text += fmt::format("{:>10} {:>7} {:>8} {:>10}  {}\n", "ms", "%", "calls", "us a call", "what");
  for (size_t i = 0; i < std::min(count, rows.size()); ++i) {
    const ProfileRow& row = rows[i];
    text += fmt::format("{:10.2f} {:7.1f} {:8} {:10.1f}  {}\n", 1e3 * row.seconds,
                        100 * row.seconds / seconds, row.calls,
                        1e6 * row.seconds / static_cast<double>(row.calls), row.name);
  }
  return text;
}

Profiler::Profiler(c10::Device device) : device_(device) {
  std::set<ActivityType> activities{ActivityType::CPU};
  if (device.is_cuda()) activities.insert(ActivityType::CUDA);
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  synchronize(device_);
  kineto::prepareProfiler(config, activities);
  kineto::enableProfiler(config, activities);
}

Profiler::~Profiler() {
  if (recording_) kineto::disableProfiler();
}

Profile Profiler::finish(const std::filesystem::path& trace) {
  require(recording_, "the profiler has finished already");
  synchronize(device_);
  recording_ = false;
  const auto result = kineto::disableProfiler();
  if (!trace.empty()) result->save(trace.string());

  Profile profile;
  const auto work = work_of(*result, device_);
  if (work.empty()) return profile;
  std::map<std::string, ProfileRow> rows;
  std::vector<std::pair<Span, ProfileRow*>> callers;
  uint64_t end = 0;
  for (const auto* event : work) {
    const Span span{event->startNs(), event->endNs()};
    end = std::max(end, span.end);
    ProfileRow& row = rows[short_name(event->name())];
    ++row.calls;
    row.seconds += static_cast<double>(event->durationNs()) * 1e-9;
    if (device_.is_cuda()) continue;  // kernels call no kernels
    while (!callers.empty() && callers.back().first.end <= span.begin) callers.pop_back();
    if (!callers.empty() && callers.back().first.end >= span.end)
      callers.back().second->seconds -= static_cast<double>(event->durationNs()) * 1e-9;
    callers.emplace_back(span, &row);
  }
  profile.seconds = static_cast<double>(end - work.front()->startNs()) * 1e-9;
  profile.busy = static_cast<double>(covered(work)) * 1e-9;
  for (auto& [name, row] : rows) {
    row.name = name;
    profile.rows.push_back(row);
  }
  std::stable_sort(profile.rows.begin(), profile.rows.end(),
                   [](const ProfileRow& a, const ProfileRow& b) { return a.seconds > b.seconds; });
  return profile;
}

}  // namespace tessera
