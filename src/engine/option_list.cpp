#include "engine/option_list.h"

#include "base/require.h"
#include "config/config.h"
#include "image_model/image_options.h"
#include "seq2seq/generation_options.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::engine {
namespace {

// The keys that requests can change.
class Keys {
 public:
  Keys() {
    declare(text_, generation_);
    declare(images_, sampling_);
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;

  const config::Option& at(std::string_view key) const {
    const config::Option* found = text_.find(key);
    if (found == nullptr) found = images_.find(key);
    require(found != nullptr, "there is no key '{}'", key);
    return *found;
  }

 private:
  seq2seq::GenerationOptions generation_;
  image_model::SamplingOptions sampling_;
  config::Schema text_, images_;
};

// A row of a Markdown table.
std::string row_of(const RequestOption& option) {
  const OptionInfo info = described(option);
  const auto code = [](const std::string& text) { return text.empty() ? "" : "`" + text + "`"; };
  const auto escaped = [](std::string text) {
    for (size_t at = 0; (at = text.find('|', at)) != std::string::npos; at += 2)
      text.insert(at, 1, '\\');
    return text;
  };
  const std::string flag = info.values.empty() ? "" : spelled(info.name, Spelling::flag);
  return fmt::format("| {} | {} | {} | {} | {} |\n", code(info.name), code(flag), code(info.key),
                     escaped(info.values), escaped(info.meaning));
}

constexpr const char* kHead =
    "| option | flag | key | values | meaning |\n| --- | --- | --- | --- | --- |\n";

}  // namespace

bool fits(OptionFor models, const Family* family) {
  const bool points = family != nullptr && family->process() != nullptr;
  const bool symbols = family != nullptr && family->draws_symbols();
  switch (models) {
    case OptionFor::all:
      return true;
    case OptionFor::diffusion:
      return family != nullptr;
    case OptionFor::points:
      return points;
    case OptionFor::symbols:
      return symbols;
    case OptionFor::search:
      return family == nullptr;
    case OptionFor::draws:
      return symbols || family == nullptr;
  }
  return false;
}

OptionInfo described(const RequestOption& option) {
  OptionInfo info{.name = option.name,
                  .key = option.key,
                  .values = option.values,
                  .models = option.models,
                  .meaning = option.meaning};
  if (info.key.empty()) return info;
  static const Keys keys;
  const config::Option& declared = keys.at(info.key);
  info.meaning = declared.help;
  info.low = declared.low;
  info.high = declared.high;
  return info;
}

std::string spelled(std::string_view name, Spelling spelling) {
  std::string text(name);
  if (spelling == Spelling::field) return text;
  std::replace(text.begin(), text.end(), '_', '-');
  return "--" + text;
}

std::string text_option_table() {
  std::string text = kHead;
  const auto add = [&](const RequestOption& option, const auto&) { text += row_of(option); };
  const GenerateOptions options;
  visit_sampler(options, add);
  visit_generation(options, add);
  return text;
}

std::string image_option_table() {
  std::string text = kHead;
  const auto add = [&](const RequestOption& option, const auto&) { text += row_of(option); };
  const SampleOptions options;
  visit_sampler(options, add);
  visit_images(options, add);
  return text;
}

}  // namespace tessera::engine
