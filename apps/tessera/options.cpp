#include "flow/options.h"
#include "codebook/declare.h"
#include "command.h"
#include "engine/option_list.h"
#include "task/recipe.h"

#include <fmt/format.h>

#include <memory>

namespace tessera::app {
namespace {

// Every group of options the program knows, with the name its table has in a configuration file.
void print_options(bool images, bool autoencoder, bool markdown) {
  images = images || autoencoder;
  task::Recipe recipe(images ? task::Domain::images : task::Domain::text,
                      autoencoder ? task::ImageKind::autoencoder : task::ImageKind::diffusion);
  EmbeddingTableOptions table;
  BitsOptions bits;
  FlowOptions flow;
  config::Schema schema;
  declare(schema, recipe);
  if (!images) {
    declare(schema, "table.", table);
    declare(schema, "bits.", bits);
    declare(schema, "flow.", flow);
  }
  fmt::print("{}", markdown ? schema.markdown() : schema.dump());
}

void print_request_options(bool images) {
  fmt::print("{}", images ? engine::image_option_table() : engine::text_option_table());
}

}  // namespace

void add_options(CLI::App& program) {
  CLI::App* options = program.add_subcommand(
      "options", "print every configuration key with its default and meaning, as TOML");
  auto images = std::make_shared<bool>(false), codes = std::make_shared<bool>(false),
       markdown = std::make_shared<bool>(false), requests = std::make_shared<bool>(false);
  options->add_flag("--images", *images, "keys of recipes for images (default: for text)");
  options->add_flag("--autoencoder", *codes, "keys of recipes for autoencoders of images");
  options->add_flag("--markdown", *markdown, "as a Markdown table (docs/options.md)");
  options->add_flag("--requests", *requests,
                    "options of single requests (flags of generate and sample, fields in C++) "
                    "instead, as a Markdown table");
  options->callback([images, codes, markdown, requests] {
    *requests ? print_request_options(*images) : print_options(*images, *codes, *markdown);
  });
}

}  // namespace tessera::app
