#pragma once

#include "image_model/image_options.h"

#include <string>
#include <vector>

// The published methods of discrete diffusion of images, in 20 steps and with a tiny network.
namespace tessera::test {

inline image_model::ImageModelOptions options_of(const SymbolFamilyOptions& symbols,
                                                 ValueHead head) {
  image_model::ImageModelOptions options;
  options.coding = {.kind = image_model::Coding::values, .head = head};
  options.network = {.width = 8, .stages = 2, .blocks = 1, .attention_side = 4, .head_width = 8};
  options.self_conditioning = 0;
  options.symbols = symbols;
  options.symbols.process.survival.horizon = 20;
  return options;
}

struct Method {
  std::string name;
  image_model::ImageModelOptions options;
  SymbolSampling sampling = {};
};

inline std::vector<Method> methods() {
  const SurvivalOptions linear{.kind = SurvivalKind::linear},
      cosine{.kind = SurvivalKind::d3pm_cosine};
  const SymbolObjectiveOptions hybrid{.cross_entropy_weight = 1};
  return {{"D3PM Gauss",
           options_of({{.noise = SymbolNoise::gaussian, .continuous = false, .gaussian = {.01, .5}},
                       hybrid},
                      ValueHead::logistic)},
          {"D3PM uniform",
           options_of(
               {{.noise = SymbolNoise::uniform, .survival = cosine, .continuous = false}, hybrid},
               ValueHead::logistic)},
          {"D3PM absorbing",
           options_of({{.survival = linear, .continuous = false, .mask_value = 128}, hybrid},
                      ValueHead::logistic)},
          {"MDLM", options_of({{}, {}, /*told_time=*/false}, ValueHead::logits)},
          {"tauLDR",
           options_of({{.noise = SymbolNoise::target_rate,
                        .min_time = 0.01,
                        .reverse = Reverse::mean,
                        .target_rate = {.reach = 40, .scale = 0.05, .growth = 30}},
                       {.target = SymbolTarget::one_jump, .cross_entropy_weight = 1e-5}},
                      ValueHead::logistic_parts),
           {.predictor = Predictor::tau_leaping, .likeliest_last = true, .last_time = 0.01}}};
}

}  // namespace tessera::test
