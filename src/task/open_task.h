#pragma once

#include "task/recipe.h"
#include "train/task.h"

#include <memory>

namespace tessera::task {

// Data the program makes itself: anew, or kept where it is there.
enum class OwnData { make, keep };

// What a recipe trains, with its data opened and new weights.
//   run  folder of the run: data the program makes itself goes there
std::unique_ptr<train::Task> open_task(const Recipe& recipe, const std::filesystem::path& run,
                                       OwnData mode, at::Device device);

}  // namespace tessera::task
