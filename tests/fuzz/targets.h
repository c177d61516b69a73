#pragma once

#include <span>
#include <string_view>

// The readers of files and requests from outside. Each takes the bytes of one, or of several
// (reading.h), and returns; it throws if a reader does what it must not.
namespace tessera::fuzz {

struct Target {
  std::string_view name;
  void (*read)(std::string_view input);
};

std::span<const Target> targets();
const Target* find_target(std::string_view name);  // nullptr if there is none

void fuzz_arrays(std::string_view input);         // .npy and .npz with images
void fuzz_autoencoder(std::string_view input);    // metadata of an autoencoder in one file
void fuzz_bpe(std::string_view input);            // codes, a vocabulary, and text to be split
void fuzz_cifar10(std::string_view input);        // the binary version of CIFAR-10
void fuzz_configuration(std::string_view input);  // recipes (TOML) and overrides
void fuzz_corpus(std::string_view input);         // a folder that `tessera prepare` made
void fuzz_idx(std::string_view input);            // the files of MNIST
void fuzz_image_model(std::string_view input);    // config.json of a model of images
void fuzz_image_set(std::string_view input);      // a folder that `tessera prepare --images` made
void fuzz_lines(std::string_view input);          // text, plain or compressed, and pairs of lines
void fuzz_manifests(std::string_view input);      // JSON of checkpoints, corpora and sets of images
void fuzz_markup(std::string_view input);         // HTML to be translated
void fuzz_png(std::string_view input);
void fuzz_requests(std::string_view input);    // bodies of requests to the server
void fuzz_results(std::string_view input);     // results of experiments (JSON)
void fuzz_run_record(std::string_view input);  // the folder of a run, as reports read it
void fuzz_safetensors(std::string_view input);
void fuzz_statistics(std::string_view input);   // statistics of image features
void fuzz_table(std::string_view input);        // tables of experiments (TOML), with sweeps
void fuzz_text_metric(std::string_view input);  // lines to be scored
void fuzz_text_model(std::string_view input);  // the folder of a model of text, without its weights
void fuzz_tokenizer(std::string_view input);   // tokenizer.json, dict.txt, codes.bpe, and text
void fuzz_unicode(std::string_view input);     // text of any bytes

}  // namespace tessera::fuzz
