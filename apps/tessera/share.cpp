#include "share.h"

#include "base/require.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/model_files.h"
#include "option_checks.h"

#include <fmt/format.h>

#include <iostream>

namespace tessera::app {

void add_share_options(CLI::App& command, ShareSettings& settings, const std::string& what) {
  command
      .add_option("--shard", settings.shard,
                  "make only the blocks of process I of N (1/8, ..., 8/8) and put them into --out; "
                  "one that is started again goes on where it was")
      ->option_text("I/N");
  command
      .add_option("--block", settings.block,
                  fmt::format("with --shard: {} of a block; equal for all processes", what))
      ->capture_default_str()
      ->check(whole_number(1))
      ->option_text("N");
  command
      .add_option("--join", settings.join,
                  "instead of all else: put the blocks in this folder together")
      ->option_text("DIR");
}

nlohmann::ordered_json facts_of_input(const std::filesystem::path& file) {
  require_option(file != "-" && !file.empty(),
                 "--shard needs a file that all processes can read: --input FILE");
  require(is_there(file), "there is no file '{}'", file.string());
  return {{"bytes", std::filesystem::file_size(file)}, {"hash", file_hash(file)}};
}

std::string fingerprint_of_model(const std::filesystem::path& folder) {
  return file_hash(folder / kModelWeightsFile) + " " + file_hash(folder / "config.json");
}

nlohmann::json job_to_join(const std::filesystem::path& folder, const std::string& name) {
  const nlohmann::json job = BlockFolder::job_of(folder);
  const std::string made_by = job.is_object() ? job.value("command", "") : "";
  require_option(made_by == name, "'{}' holds blocks of `tessera {}`: that command joins them",
                 folder.string(), made_by);
  return job;
}

void print_joined(const std::filesystem::path& folder, const std::string& name) {
  job_to_join(folder, name);
  BlockFolder::join(folder, [](std::string_view bytes) { std::cout << bytes; });
  std::cout.flush();
}

}  // namespace tessera::app
