#include "task/trial.h"

#include "files/files.h"
#include "task/open_task.h"
#include "tensor/peak_memory.h"
#include "tensor/profiler.h"
#include "train/device_switches.h"
#include "train/trainer.h"

#include <algorithm>
#include <optional>

namespace tessera::task {
namespace {

// Numbers of updates: until every shape has been seen (CUDA records each), then timed, then
// profiled.
struct Trial {
  int64_t warm_up, timed, profiled;
};
constexpr Trial kTrialCpu{4, 12, 4}, kTrialCuda{300, 200, 20};

}  // namespace

TrainingCost try_training(const Recipe& recipe, int64_t made, at::Device device,
                          const std::filesystem::path& trace) {
  // Data that the program makes itself goes to a temporary folder.
  std::optional<AtomicFolder> scratch;
  if (recipe.makes_its_data()) scratch.emplace(std::filesystem::temp_directory_path());
  const PeakMemory memory(device);
  const train::DeviceSwitches switches(device, recipe.run.deterministic);
  const auto task =
      open_task(recipe, scratch ? scratch->path() : std::filesystem::path(), OwnData::make, device);
  train::Trainer trainer(*task, recipe);
  trainer.begin();
  const Trial trial = device.is_cuda() ? kTrialCuda : kTrialCpu;
  TrainingCost cost;
  cost.device = device.str();
  cost.parameters = task->model().parameters().count();
  for (const train::Fact& fact : task->facts())
    cost.facts.push_back({fact.key, fact.value.dump(), fact.title, fact.text});
  cost.updates_per_second = trainer.try_updates(trial.warm_up, trial.timed);
  cost.memory = memory.bytes();
  cost.updates_made = made;
  cost.updates_left = std::max<int64_t>(0, recipe.run.steps - made);
  cost.hours = static_cast<double>(cost.updates_left) / cost.updates_per_second / 3600;
  if (trace.empty()) return cost;
  Profiler profiler(device);
  trainer.try_updates(0, trial.profiled);
  cost.profiled_updates = trial.profiled;
  cost.profile = profiler.finish(trace).table();
  return cost;
}

}  // namespace tessera::task
