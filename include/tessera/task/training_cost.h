#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tessera {

// What a training would take, estimated from some of its updates.
struct TrainingCost {
  // A fact about the training data.
  struct Fact {
    std::string key;          // "batches_per_epoch"
    std::string json;         // the value, as JSON
    std::string title, text;  // for people; both may be empty
  };

  std::string device;  // on which it was measured: "cpu", "cuda:0"
  int64_t parameters = 0;
  std::vector<Fact> facts;
  int64_t memory = 0;  // peak, in bytes: of the device, or on the CPU of the process
  double updates_per_second = 0;
  int64_t updates_made = 0;  // so far, if a run is resumed
  int64_t updates_left = 0;
  double hours = 0;  // for the updates that are left, without validation

  // If a trace was asked for: what some updates spent their time on, as a table.
  int64_t profiled_updates = 0;
  std::string profile;
};

}  // namespace tessera
