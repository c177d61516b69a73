#pragma once

// Limits of the sizes of networks, for the options that declare them. They are far above what
// anyone trains, but low enough that a product of a few of them fits into 64 bits. So the memory
// that such a network needs can be computed, and a network that does not fit is refused.
namespace tessera::nn {

constexpr double kMostLayers = 1000;
constexpr double kWidest = 65536;           // numbers of a state, channels, heads
constexpr double kMostPositions = 1048576;  // symbols of a sentence

}  // namespace tessera::nn
