#pragma once

#include <filesystem>
#include <string>

namespace tessera::image_metric {

// Names of distances, by the extractor's file name. Only distances in the features of the Inception
// network are called FID and KID; those of other networks cannot be compared with them.
//   "inception-2015.pt"  FID          KID
//   "cifar10-resnet.pt"  FD-ResNet    KD-ResNet
//   "fashion.pt"         FD-fashion   KD-fashion
//   ""                   FD           KD
std::string frechet_name(const std::filesystem::path& extractor);
std::string kernel_name(const std::filesystem::path& extractor);

}  // namespace tessera::image_metric
