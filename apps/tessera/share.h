#pragma once

#include "files/block_folder.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace tessera::app {

// How a command's work is shared by several processes, which need not run at the same time: each
// makes the blocks of its share into a folder, and the last command joins them.
struct ShareSettings {
  std::string shard;           // "2/7"; empty: the work is not shared
  std::filesystem::path out;   // folder of the blocks
  int64_t block = 2000;        // lines or images of a block
  std::filesystem::path join;  // folder to join; empty: none

  bool shared() const { return !shard.empty(); }
  Shard share() const { return Shard::parse(shard); }
};

// Adds --shard, --block and --join.
//   what  of a block: "lines"
void add_share_options(CLI::App& command, ShareSettings& settings, const std::string& what);

// What all processes must agree on about a file: its size and hash. Throws UsageError for standard
// input, which only one process could read.
nlohmann::ordered_json facts_of_input(const std::filesystem::path& file);

// The same about a model folder.
std::string fingerprint_of_model(const std::filesystem::path& folder);

// The job of a folder of blocks. Throws UsageError if another command than `name` made them.
nlohmann::json job_to_join(const std::filesystem::path& folder, const std::string& name);

// Prints the blocks that the command `name` made.
void print_joined(const std::filesystem::path& folder, const std::string& name);

}  // namespace tessera::app
