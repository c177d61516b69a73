#pragma once

#include "ranks/group.h"
#include "task/recipe.h"
#include "train/task.h"

#include <memory>

namespace tessera::task {

// Whether data that the program makes itself is made anew, or kept if it exists.
enum class OwnData { make, keep };

// The task of a recipe, with its data opened and with new weights.
//   run    folder of the run: data the program makes itself goes there
//   group  processes that share validations; must outlive the task
std::unique_ptr<train::Task> open_task(const Recipe& recipe, const std::filesystem::path& run,
                                       OwnData mode, at::Device device,
                                       ranks::Group& group = ranks::alone());

}  // namespace tessera::task
