#include "tessera/files/safetensors.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/nearest_name.h"
#include "files/files.h"
#include "files/safetensors_header.h"
#include "tessera/base/error.h"

namespace tessera::safetensors {
namespace {

constexpr std::array<std::pair<ElementType, at::ScalarType>, 15> kScalarTypes = {{
    {ElementType::u64, at::kUInt64},
    {ElementType::i64, at::kLong},
    {ElementType::f64, at::kDouble},
    {ElementType::f32, at::kFloat},
    {ElementType::u32, at::kUInt32},
    {ElementType::i32, at::kInt},
    {ElementType::bf16, at::kBFloat16},
    {ElementType::f16, at::kHalf},
    {ElementType::u16, at::kUInt16},
    {ElementType::i16, at::kShort},
    {ElementType::f8_e4m3, at::kFloat8_e4m3fn},
    {ElementType::f8_e5m2, at::kFloat8_e5m2},
    {ElementType::i8, at::kChar},
    {ElementType::u8, at::kByte},
    {ElementType::boolean, at::kBool},
}};

at::ScalarType scalar_type(ElementType type) {
  return std::find_if(kScalarTypes.begin(), kScalarTypes.end(),
                      [&](const auto& pair) { return pair.first == type; })
      ->second;
}

Entry describe(const std::string& name, const at::Tensor& tensor) {
  if (!tensor.defined()) throw Error(fmt::format("tensor '{}' is undefined", name));
  if (tensor.layout() != at::kStrided || tensor.is_meta())
    throw Error(fmt::format("tensor '{}' is not a dense tensor with data", name));
  for (const auto& [element, scalar] : kScalarTypes)
    if (scalar == tensor.scalar_type()) return {.type = element, .shape = tensor.sizes().vec()};
  throw Error(fmt::format("tensor '{}' has the type {}, which is not supported", name,
                          c10::toString(tensor.scalar_type())));
}

std::string_view bytes_of(const at::Tensor& tensor) {
  return {static_cast<const char*>(tensor.const_data_ptr()), tensor.nbytes()};
}

// Any byte but 0 and 1 in a C++ bool is undefined behaviour.
void check_truth_values(const std::string& name, std::string_view bytes) {
  const auto wrong = std::find_if(bytes.begin(), bytes.end(),
                                  [](char byte) { return byte != '\0' && byte != '\1'; });
  if (wrong != bytes.end())
    throw Error(fmt::format("tensor '{}' of BOOL holds {} at element {}, not 0 or 1", name,
                            static_cast<unsigned char>(*wrong), wrong - bytes.begin()));
}

}  // namespace

struct File::Contents {
  std::filesystem::path path;
  MappedFile file;
  Header header;
};

File::File(const std::filesystem::path& path) {
  MappedFile file(path, MappedFile::Pages::copy_on_write);
  try {
    Header header = parse_header(file.view());
    for (const auto& [name, entry] : header.entries)
      if (entry.type == ElementType::boolean)
        check_truth_values(
            name, file.view().substr(header.data_start + entry.begin, entry.end - entry.begin));
    contents_ =
        std::make_shared<const Contents>(Contents{path, std::move(file), std::move(header)});
  } catch (const Error& error) {
    throw Error(path.string() + ": " + error.what(), error.hint());
  }
}

std::vector<std::string> File::names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : contents_->header.entries) names.push_back(name);
  return names;
}

bool File::contains(const std::string& name) const {
  return contents_->header.entries.contains(name);
}

const Metadata& File::metadata() const {
  return contents_->header.metadata;
}

at::Tensor File::tensor(const std::string& name) const {
  const auto& entries = contents_->header.entries;
  const auto found = entries.find(name);
  if (found == entries.end()) {
    std::vector<std::string_view> known;
    for (const auto& [candidate, entry] : entries) known.push_back(candidate);
    throw Error(fmt::format("{}: there is no tensor '{}'{}", contents_->path.string(), name,
                            did_you_mean(name, known)));
  }

  const Entry& entry = found->second;
  const at::TensorOptions options = at::TensorOptions().dtype(scalar_type(entry.type));
  const uint64_t size = entry.end - entry.begin;
  if (size == 0) return at::empty(entry.shape, options);
  char* const data = contents_->file.writable_data() + contents_->header.data_start + entry.begin;
  // The format does not require aligned data, although the usual writers align it.
  if (reinterpret_cast<uintptr_t>(data) % size_of(entry.type) != 0) {
    at::Tensor copy = at::empty(entry.shape, options);
    std::memcpy(copy.mutable_data_ptr(), data, size);
    return copy;
  }
  return at::from_blob(
      data, entry.shape, [keep_mapped = contents_](void*) {}, options);
}

Tensors File::tensors() const {
  Tensors all;
  for (const auto& [name, entry] : contents_->header.entries) all.emplace(name, tensor(name));
  return all;
}

void save(const std::filesystem::path& path, const Tensors& tensors, const Metadata& metadata) {
  std::vector<std::string> order;
  std::string head;
  try {
    Header header;
    header.metadata = metadata;
    for (const auto& [name, tensor] : tensors) header.entries[name] = describe(name, tensor);
    head = format_header(header, order);
  } catch (const Error& error) {
    throw Error(fmt::format("cannot write '{}': {}", path.string(), error.what()), error.hint());
  }

  AtomicFile file(path, Links::follow);
  file.write(head);
  // One tensor at a time is copied to the CPU, so a model on the device is never copied as a whole.
  for (const std::string& name : order)
    file.write(bytes_of(tensors.at(name).resolve_neg().to(at::kCPU).contiguous()));
  file.commit();
}

}  // namespace tessera::safetensors
