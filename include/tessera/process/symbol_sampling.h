#pragma once

#include <tessera/base/enum_names.h>

#include <cstdint>

namespace tessera {

// How a sampler of symbols makes a step.
enum class Predictor {
  ancestral,  // drawn from the reverse process: exact for a single position
  euler,      // rates of the reversed chain, times the step
  // Numbers of jumps are drawn. Jumps between ordered symbols, such as pixels, add up; of others
  // the first counts.
  tau_leaping,
};

// Which masks are uncovered first.
enum class UncoverOrder {
  random,      // as the reverse process has it
  confidence,  // where the network is surest; others are covered again (Mask-Predict)
};

template <>
struct EnumNames<Predictor> {
  static constexpr std::string_view what = "predictor";
  static constexpr std::array<std::pair<Predictor, std::string_view>, 3> values{
      {{Predictor::ancestral, "ancestral"},
       {Predictor::euler, "euler"},
       {Predictor::tau_leaping, "tau-leaping"}}};
};
template <>
struct EnumNames<UncoverOrder> {
  static constexpr std::string_view what = "order";
  static constexpr std::array<std::pair<UncoverOrder, std::string_view>, 2> values{
      {{UncoverOrder::random, "random"}, {UncoverOrder::confidence, "confidence"}}};
};

// How the reverse process of a family of symbols runs; its steps and seed are in SamplerOptions.
struct SymbolSampling {
  Predictor predictor = Predictor::ancestral;
  UncoverOrder order = UncoverOrder::random;
  double temperature = 1.0;     // for drawing symbols; 0: the likeliest
  bool likeliest_last = false;  // the last step takes the likeliest symbols
  int64_t correctors = 0;       // further steps at the same time, after every step
  double corrector_size = 1.5;  // their length, in steps
  double corrector_from = 0.1;  // only after steps that begin at this share of T or below
  double last_time = 0;  // share of T where the last step begins; 0: all steps are equally long

  bool operator==(const SymbolSampling&) const = default;
};

}  // namespace tessera
