#include "task/open_task.h"

#include "base/require.h"
#include "corpus/date_pairs.h"
#include "files/files.h"
#include "task/autoencoder_task.h"
#include "task/image_task.h"
#include "task/text_task.h"

namespace tessera::task {
namespace {

corpus::Corpus open_corpus(const Recipe& recipe, const std::filesystem::path& run, OwnData mode) {
  const TextData& data = recipe.text.data;
  const std::filesystem::path folder = data.folder(run);
  if (data.source == TextSource::none) {
    require_option(!folder.empty(),
                   "data.dir is missing: name a folder that `tessera prepare` wrote");
  } else if (!data.dir.empty()) {
    throw UsageError("data.dir names a corpus, and data.task makes one: choose one of them",
                     "set data.task=none to train on data.dir");
  } else if (mode == OwnData::make || !is_there(folder)) {
    // A corpus that exists before the run is left over from a run that did not begin, maybe with
    // other options. A run that was killed while its corpus was made has none.
    corpus::make_date_corpus(folder, recipe.run.seed, data.pairs,
                             corpus::CorpusWriter::Existing::replace);
  }
  return corpus::Corpus::open(folder, /*verify_contents=*/true);
}

}  // namespace

std::unique_ptr<train::Task> open_task(const Recipe& recipe, const std::filesystem::path& run,
                                       OwnData mode, at::Device device, ranks::Group& group) {
  if (recipe.domain == Domain::images) {
    const std::filesystem::path& folder = recipe.image.data.dir;
    require_option(!folder.empty(),
                   "data.dir is missing: name a folder that `tessera prepare --images` wrote");
    image::Dataset dataset(folder, /*verify_contents=*/true);
    if (recipe.image.kind == ImageKind::autoencoder)
      return std::make_unique<AutoencoderTask>(recipe.image, std::move(dataset), recipe.run.seed,
                                               device);
    return std::make_unique<ImageTask>(recipe.image, std::move(dataset), recipe.run.seed, device,
                                       group);
  }
  corpus::Corpus corpus = open_corpus(recipe, run, mode);
  return std::make_unique<TextTask>(recipe.text, std::move(corpus), recipe.run.seed, device, group);
}

}  // namespace tessera::task
