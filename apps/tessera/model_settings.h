#pragma once

#include "command.h"
#include "engine/option_list.h"
#include "option_checks.h"

#include <tessera/engine/load_options.h>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <type_traits>

namespace tessera::app {

// The model that a command works with.
struct ModelSettings {
  std::filesystem::path folder;  // of a run or a model
  std::string checkpoint;
  std::string precision = LoadOptions().precision;

  LoadOptions load_options(const GlobalOptions& globals) const {
    return {.device = globals.device, .precision = precision, .checkpoint = checkpoint};
  }
};

// Adds the folder; commands that take several have an option of their own.
void add_model_option(CLI::App& command, ModelSettings& settings);
// Adds all other options.
void add_loading_options(CLI::App& command, ModelSettings& settings);

// Adds the flag of an option of requests (engine/option_list.h), if it has one. A visitor for the
// functions there.
class FlagAdder {
 public:
  explicit FlagAdder(CLI::App& command) : command_(command) {}

  template <class T>
  void operator()(const engine::RequestOption& request, std::optional<T>& field) const {
    const engine::OptionInfo info = engine::described(request);
    if (info.values.empty()) return;
    CLI::Option* option = command_.add_option(flag(info), field, info.meaning);
    option->option_text(info.values);
    if constexpr (std::is_same_v<T, int64_t>)
      option->check(
          whole_number(static_cast<int64_t>(info.low),
                       std::isinf(info.high) ? INT64_MAX : static_cast<int64_t>(info.high)));
    else if constexpr (std::is_same_v<T, double>)
      option->check(number_in(info.low, info.high));
  }

  // "merge_repeats": --merge-repeats, and --keep-repeats for the opposite.
  void operator()(const engine::RequestOption& request, std::optional<bool>& field) const {
    const engine::OptionInfo info = engine::described(request);
    CLI::Option* on = command_.add_flag_callback(
        flag(info), [&field] { field = true; }, info.meaning);
    command_
        .add_flag_callback(
            "--keep-repeats", [&field] { field = false; }, "keep repeated symbols")
        ->excludes(on);
  }

 private:
  static std::string flag(const engine::OptionInfo& info) {
    return engine::spelled(info.name, engine::Spelling::flag);
  }

  CLI::App& command_;
};

}  // namespace tessera::app
