#include "score_json.h"

#include <nlohmann/json.hpp>

#include <variant>

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;

Json parts_json(const BleuParts& parts) {
  return {{"precisions", parts.precisions},
          {"cumulative", parts.cumulative},
          {"brevity_penalty", parts.brevity_penalty},
          {"ratio", parts.ratio},
          {"hyp_len", parts.hyp_len},
          {"ref_len", parts.ref_len},
          {"matches", parts.matches},
          {"totals", parts.totals}};
}

Json parts_json(const ChrfParts& parts) {
  return {{"char_order", parts.char_order}, {"word_order", parts.word_order}, {"beta", parts.beta}};
}

Json parts_json(const RougeParts& parts) {
  return {{"precision", parts.precision}, {"recall", parts.recall}, {"f1", parts.f1}};
}

}  // namespace

Json score_json(const TextScore& score) {
  Json json{{"name", score.name},
            {"score", score.score},
            {"signature", score.signature},
            {"line", score.line}};
  json.update(std::visit([](const auto& parts) { return parts_json(parts); }, score.parts));
  return json;
}

}  // namespace tessera::app
