#pragma once

#include <filesystem>
#include <string>

namespace tessera::image_metric {

// What distances may be called. FID and KID are those in the features of the Inception network, and
// figures of others cannot be compared with them: the extractor's file name decides.
//   "inception-2015.pt"  FID          KID
//   "cifar10-resnet.pt"  FD-ResNet    KD-ResNet
//   "fashion.pt"         FD-fashion   KD-fashion
//   ""                   FD           KD
std::string frechet_name(const std::filesystem::path& extractor);
std::string kernel_name(const std::filesystem::path& extractor);

}  // namespace tessera::image_metric
