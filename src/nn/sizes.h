#pragma once

// Bounds of the sizes of networks, for the options that declare them. They are far above what
// anyone trains, and low enough that a product of a few of them fits into 64 bits: what a network
// of such sizes would take is then computed, and refused where the memory is not there.
namespace tessera::nn {

constexpr double kMostLayers = 1000;
constexpr double kWidest = 65536;           // numbers of a state, channels, heads
constexpr double kMostPositions = 1048576;  // symbols of a sentence

}  // namespace tessera::nn
