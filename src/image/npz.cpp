#include "image/npz.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <utility>

namespace tessera::image {

NpzWriter::NpzWriter(const std::filesystem::path& path) : archive_(path) {}

void NpzWriter::begin(const std::string& name, at::ScalarType type, std::vector<int64_t> shape) {
  end();
  encoder_.emplace(type, std::move(shape));
  archive_.begin(name + ".npy");
  archive_.write(encoder_->header());
}

void NpzWriter::append(const at::Tensor& batch) {
  require(encoder_.has_value(), "no array was begun");
  archive_.write(bytes_of(encoder_->next(batch)));
}

void NpzWriter::add(const std::string& name, const at::Tensor& array) {
  require_defined(array, "array");
  begin(name, array.scalar_type(), array.sizes().vec());
  append(array);
}

void NpzWriter::end() {
  if (encoder_) encoder_->check_complete();
  encoder_.reset();
}

void NpzWriter::commit() {
  end();
  archive_.commit();
}

}  // namespace tessera::image
