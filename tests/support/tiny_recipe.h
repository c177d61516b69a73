#pragma once

namespace tessera::test {

// A training on dates. A step takes some milliseconds, a run half a second.
inline constexpr const char* kTinyRecipe = R"([data]
task = "dates"
pairs = 200
tokens = 256
[model]
width = 16
layers = 1
latent = 8
feedforward = 16
heads = 2
positions = 64
[train]
steps = 24
save_every = 8
validate_every = 12
validate_sentences = 2
log_every = 4
warmup = 5
[generate]
noises = 1
[sampler]
steps = 2
)";

}  // namespace tessera::test
