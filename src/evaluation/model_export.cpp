#include <tessera/evaluation/model_export.h>

#include "base/numerals.h"
#include "base/require.h"
#include "files/export_card.h"
#include "files/files.h"
#include "files/model_files.h"
#include "files/sha256.h"
#include "files/stored_languages.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "nn/precision.h"
#include "nn/rounded_weight.h"
#include "seq2seq/model_folder.h"

#include <tessera/files/safetensors.h>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <set>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Facts = ExportCard::Facts;

constexpr const char* kClasses = "classes";

// What must be known about a model to write it again.
struct Parts {
  int64_t parameters = 0;
  // Names of the weights that stay float32, and of those that can be rounded to 8 bits.
  std::set<std::string> codes, products;
};

// Loads the model, so a folder that cannot be used is refused.
Parts parts_of(const fs::path& folder, const std::string& kind) {
  const auto parts = [](const nn::Parameters& parameters) {
    return Parts{parameters.count(), parameters.names_of(nn::Use::codes),
                 parameters.names_of(nn::Use::product)};
  };
  if (kind == image_model::kImageKind)
    return parts(image_model::load_image_folder(folder, at::kCPU, nn::Precision::float32)
                     .model->parameters());
  if (kind == image_model::kAutoencoderKind)
    return parts(image_model::load_autoencoder_folder(folder, at::kCPU)->parameters());
  return parts(
      seq2seq::load_model_folder(folder, at::kCPU, nn::Precision::float32).model->parameters());
}

bool is_image_kind(const std::string& kind) {
  return kind == image_model::kImageKind || kind == image_model::kAutoencoderKind;
}

// In int8, what no product takes stays float32.
void write_weights(const fs::path& from, const fs::path& to, nn::Precision precision,
                   const Parts& parts) {
  safetensors::Tensors weights;
  for (const auto& [name, tensor] : safetensors::File(from / kModelWeightsFile).tensors()) {
    if (precision == nn::Precision::int8 && parts.products.contains(name)) {
      const auto rounded = nn::RoundedWeight::of(tensor.to(at::kFloat));
      weights[name] = rounded.codes;
      weights[nn::RoundedWeight::scale_name(name)] = rounded.scales;
    } else {
      const bool low = precision == nn::Precision::bfloat16 && !parts.codes.contains(name);
      weights[name] = tensor.to(low ? at::kBFloat16 : at::kFloat);
    }
  }
  safetensors::save(to / kModelWeightsFile, weights);
}

// Which weights are not rounded, for the card.
std::string_view kept_in_float32(nn::Precision precision, const Parts& parts) {
  if (precision == nn::Precision::int8) return " (of products; others: float32)";
  return precision == nn::Precision::bfloat16 && !parts.codes.empty() ? " (codes: float32)" : "";
}

// config.json with what the card adds. Returns it.
Json write_config(const fs::path& from, const fs::path& to, const ExportCard& card,
                  nn::Precision precision) {
  Json config = parse_model_config(from);
  const Json options = config.at("options");
  config.erase("options");  // they come last
  if (card.languages.known()) store_languages(config, card.languages);
  if (!card.attribution.empty()) config[kAttribution] = card.attribution;
  if (!card.classes.empty()) config[kClasses] = card.classes;
  config["options"] = options;
  if (precision == nn::Precision::int8) mark_as_rounded(config);
  write_file_atomically(to / kModelConfigFile, config.dump(1) + "\n");
  return config;
}

void check_classes(const ExportCard& card, const Json& config) {
  if (card.classes.empty()) return;
  const size_t there = config.value(kClasses, Json::array()).size();
  require_option(card.classes.size() == there,
                 "the card names {}, and the model knows {}: names are given to all or to none",
                 counted(std::ssize(card.classes), "class", "classes"), there);
  require_option(std::set(card.classes.begin(), card.classes.end()).size() == there,
                 "the card gives a name to two classes");
}

// A text that is not the card's own comes from the card in the folder.
void complete(ExportCard& card, const fs::path& folder) {
  const std::string written =
      is_there(folder / kModelCardFile) ? read_file(folder / kModelCardFile) : "";
  if (card.title.empty())
    card.title =
        written.starts_with("# ") ? written.substr(2, written.find('\n') - 2) : ModelCard().title;
  const size_t begin = std::min(written.find("\n\n"), written.size());
  const size_t end = std::min(written.find("\n\n| "), written.find("\n\n## "));
  if (card.description.empty() && begin < end)
    card.description = written.substr(begin + 2, end - begin - 2);
  for (const auto& [title, text] : {std::pair{"Use", &card.use},
                                    {"Scores", &card.scores},
                                    {"Speed", &card.speed},
                                    {"Limits", &card.limits},
                                    {"Environment", &card.environment},
                                    {"Licence", &card.licence}})
    if (text->empty()) *text = section_of_card(folder, title);
  if (card.training.empty()) {
    const std::string training = section_of_card(folder, "Training");
    card.training = training.substr(0, training.find("| training |"));
  }
}

// How it generates unless it is told otherwise.
void add_generation(Facts& facts, const Json& options) {
  const auto number = [&](const char* key) { return options.at(key).get<int64_t>(); };
  const bool draws = options.value("model.kind", "") != "ar";
  if (draws && options.contains("sampler.steps"))
    facts.emplace_back("steps", std::to_string(number("sampler.steps")));
  if (draws && options.contains("generate.lengths"))
    facts.emplace_back(
        "candidates",
        fmt::format("{} x {}, one chosen by {}", counted(number("generate.lengths"), "length"),
                    counted(number("generate.noises"), "noise"),
                    options.at("generate.selection").get<std::string>()));
  if (!draws && options.contains("generate.beam"))
    facts.emplace_back("beam", std::to_string(number("generate.beam")));
  if (options.contains("sample.guidance"))
    facts.emplace_back("guidance", options.at("sample.guidance").dump());
}

std::string toml_of(const Json& options) {
  std::string text;
  for (const auto& [key, value] : options.items())
    text += fmt::format("{} = {}\n", key, value.is_null() ? "\"none\"" : value.dump());
  return text;
}

TextEvaluation measured(const fs::path& folder, const std::string& precision,
                        const ModelExportOptions& options) {
  const Engine engine(folder, {.device = options.device, .precision = precision});
  return evaluate_texts(engine, *options.check,
                        {.warm_up = false, .stop = options.stop, .progress = options.progress});
}

ModelExport::Check checked(const fs::path& before, const fs::path& after,
                           const ModelExportOptions& options) {
  const std::string exact(name_of(nn::Precision::float32));
  const bool rounded = options.precision == name_of(nn::Precision::int8);
  const TextEvaluation first = measured(before, exact, options),
                       second = measured(after, rounded ? options.precision : exact, options);
  return {first.scores.front(), second.scores.front(), std::ssize(second.texts)};
}

void write_card(const fs::path& from, const fs::path& to, ExportCard card, const Json& config,
                const ModelExport& made, std::string_view kept, const ModelExportOptions& options) {
  complete(card, from);
  Facts facts;
  if (const Languages languages = stored_languages(config); languages.known())
    facts.emplace_back("languages", languages.source + " to " + languages.target);
  facts.emplace_back("parameters", with_commas(made.parameters));
  facts.emplace_back("weights", fmt::format("{} bytes, {}{}",
                                            with_commas(static_cast<int64_t>(made.weights_bytes)),
                                            options.precision, kept));
  facts.emplace_back("SHA-256", fmt::format("`{}`", made.sha256));
  add_generation(facts, config.at("options"));
  Facts training = facts_of_card(from);
  if (const auto& check = made.check)
    training.emplace_back("rounding",
                          fmt::format("{} {:.2f}, before it {:.2f} ({} of {})", check->after.name,
                                      check->after.score, check->before.score,
                                      counted(check->sentences, "sentence"), options.check->split));
  // A recipe says what is not as usual; config.json has all options.
  const std::string all = options.recipe.empty() ? toml_of(config.at("options")) : "";
  write_file_atomically(to / kModelCardFile, card.markdown(facts, training, options.recipe, all));
}

}  // namespace

ModelExport export_model(const fs::path& run_or_model, const fs::path& out,
                         const ModelExportOptions& options) {
  const auto precision = parse_name<nn::Precision>(options.precision);
  const fs::path folder = find_model_folder(run_or_model, options.checkpoint);
  const std::string kind = kind_of_model(folder);
  require_option(precision != nn::Precision::int8 || !is_image_kind(kind),
                 "precision int8 is for text: models of images take float32 or bfloat16");
  require_exact_weights(folder, "another export");
  require_option(!options.check || !is_image_kind(kind),
                 "'{}' is a model of images: BLEU measures models of text (`tessera evaluate` "
                 "measures images)",
                 folder.string());
  const ExportCard card = ExportCard::read(options.cards);
  check_classes(card, parse_model_config(folder));
  const fs::path place = place_of_new_model(out);
  const Parts parts = parts_of(folder, kind);

  AtomicFolder pending(place.parent_path());
  const fs::path& made = pending.path();
  write_weights(folder, made, precision, parts);
  const Json config = write_config(folder, made, card, precision);
  for (const std::string& name : other_model_files(folder))
    write_file_atomically(made / name, read_file(folder / name));
  if (!card.licence_file.empty())
    write_file_atomically(made / kModelLicenceFile, read_file(card.licence_file));
  else if (is_there(folder / kModelLicenceFile))
    write_file_atomically(made / kModelLicenceFile, read_file(folder / kModelLicenceFile));
  parts_of(made, kind);  // it loads

  ModelExport result{.folder = out, .kind = kind, .parameters = parts.parameters};
  if (options.check) result.check = checked(folder, made, options);
  {
    const MappedFile weights(made / kModelWeightsFile);
    result.weights_bytes = weights.size();
    result.sha256 = sha256(weights.view());
  }
  write_card(folder, made, card, config, result, kept_in_float32(precision, parts), options);
  for (const auto& entry : fs::directory_iterator(made)) result.bytes += entry.file_size();
  pending.commit(place.filename().string());
  return result;
}

}  // namespace tessera
