#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

// What a training would take, as some updates of it say.
struct TrainingCost {
  // Something to be known about its data.
  struct Fact {
    std::string key;          // "batches_per_epoch"
    std::string json;         // the value, as JSON
    std::string title, text;  // for people; both may be empty
  };

  std::string device;  // that was computed on: "cpu", "cuda:0"
  int64_t parameters = 0;
  std::vector<Fact> facts;
  int64_t memory = 0;  // bytes at most: of the device; on the CPU of the process
  double updates_per_second = 0;
  int64_t updates_made = 0;  // of a run that goes on
  int64_t updates_left = 0;
  double hours = 0;  // for those that are left, validation not counted

  // Where a trace was asked for: what some updates spent their time on, as a table.
  int64_t profiled_updates = 0;
  std::string profile;
};

}  // namespace tessera
