#include "files/safetensors_header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "base/rounding.h"
#include "tessera/base/error.h"

static_assert(std::endian::native == std::endian::little, "safetensors files are little-endian");

namespace tessera::safetensors {
namespace {

using nlohmann::json;

constexpr size_t kLengthBytes = 8;
constexpr uint64_t kLongestHeader = 100'000'000;  // the format's own limit
constexpr size_t kMostDimensions = 64;            // LibTorch's limit
constexpr std::string_view kMetadataKey = "__metadata__";

struct ElementInfo {
  ElementType type;
  std::string_view name;
  uint64_t size;
};

constexpr std::array<ElementInfo, 15> elements = {{
    {ElementType::u64, "U64", 8},
    {ElementType::i64, "I64", 8},
    {ElementType::f64, "F64", 8},
    {ElementType::f32, "F32", 4},
    {ElementType::u32, "U32", 4},
    {ElementType::i32, "I32", 4},
    {ElementType::bf16, "BF16", 2},
    {ElementType::f16, "F16", 2},
    {ElementType::u16, "U16", 2},
    {ElementType::i16, "I16", 2},
    {ElementType::f8_e4m3, "F8_E4M3", 1},
    {ElementType::f8_e5m2, "F8_E5M2", 1},
    {ElementType::i8, "I8", 1},
    {ElementType::u8, "U8", 1},
    {ElementType::boolean, "BOOL", 1},
}};

const ElementInfo& info_of(ElementType type) {
  return *std::find_if(elements.begin(), elements.end(),
                       [&](const ElementInfo& element) { return element.type == type; });
}

ElementType element_type(const std::string& name, const std::string& tensor) {
  std::string known;
  for (const ElementInfo& element : elements) {
    if (element.name == name) return element.type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", element.name);
  }
  throw Error(fmt::format("tensor '{}' has the dtype '{}', which is not supported", tensor, name),
              "supported: " + known);
}

// Reads the header's JSON token by token and accepts only what the format prescribes. So nesting is
// bounded, and a repeated key is noticed; a document tree would keep the last one.
class HeaderReader final : public json::json_sax_t {
 public:
  Header header;

  bool start_object(size_t) override {
    if (place_ == Place::start)
      place_ = Place::top;
    else if (place_ == Place::top_value && name_ == kMetadataKey)
      place_ = Place::metadata;
    else if (place_ == Place::top_value)
      place_ = Place::tensor;
    else
      refuse("an object");
    return true;
  }

  bool key(std::string& name) override {
    if (place_ == Place::top) {
      if (!seen_.insert(name).second) throw Error(fmt::format("'{}' comes twice", name));
      name_ = name;
      place_ = Place::top_value;
    } else if (place_ == Place::metadata) {
      if (header.metadata.contains(name))
        throw Error(fmt::format("the key '{}' of {} comes twice", name, kMetadataKey));
      field_ = name;
      place_ = Place::metadata_value;
    } else {
      if (name != "dtype" && name != "shape" && name != "data_offsets")
        throw Error(fmt::format("tensor '{}' has the unknown field '{}'", name_, name));
      if ((name == "dtype" && type_) || (name == "shape" && shape_) ||
          (name == "data_offsets" && offsets_))
        throw Error(fmt::format("the field '{}' of tensor '{}' comes twice", name, name_));
      field_ = name;
      place_ = Place::tensor_value;
    }
    return true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      for (const auto& [there, name] :
           {std::pair(type_.has_value(), "dtype"), std::pair(shape_.has_value(), "shape"),
            std::pair(offsets_.has_value(), "data_offsets")})
        if (!there) throw Error(fmt::format("tensor '{}' has no '{}'", name_, name));
      if (offsets_->size() != 2)
        throw Error(fmt::format("the 'data_offsets' of tensor '{}' are {} numbers, not 2", name_,
                                offsets_->size()));
      header.entries.emplace(name_, Entry{*type_, *shape_, offsets_->front(), offsets_->back()});
      type_.reset();
      shape_.reset();
      offsets_.reset();
    }
    place_ = Place::top;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ == Place::tensor_value && field_ == "shape")
      shape_.emplace();
    else if (place_ == Place::tensor_value && field_ == "data_offsets")
      offsets_.emplace();
    else
      refuse("a list");
    place_ = Place::list;
    return true;
  }

  bool end_array() override {
    place_ = Place::tensor;
    return true;
  }

  bool number_unsigned(json::number_unsigned_t value) override {
    if (place_ != Place::list) refuse("a number");
    if (field_ == "data_offsets") {
      offsets_->push_back(value);
      return true;
    }
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      throw Error(fmt::format("the shape of tensor '{}' is too large", name_));
    if (shape_->size() == kMostDimensions)
      throw Error(fmt::format("tensor '{}' has more than {} dimensions", name_, kMostDimensions));
    shape_->push_back(static_cast<int64_t>(value));
    return true;
  }

  bool string(std::string& value) override {
    if (place_ == Place::metadata_value) {
      header.metadata.emplace(field_, value);
      place_ = Place::metadata;
    } else if (place_ == Place::tensor_value && field_ == "dtype") {
      type_ = element_type(value, name_);
      place_ = Place::tensor;
    } else {
      refuse("a string");
    }
    return true;
  }

  bool number_integer(json::number_integer_t) override { refuse("a negative number"); }
  bool number_float(json::number_float_t, const std::string& text) override {
    refuse("the number " + text);
  }
  bool boolean(bool value) override { refuse(value ? "true" : "false"); }
  bool null() override { refuse("null"); }
  bool binary(json::binary_t&) override { refuse("binary data"); }

  bool parse_error(size_t position, const std::string&, const json::exception& failure) override {
    // The library's text begins with its own name and an error number in brackets.
    std::string_view text = failure.what();
    if (const size_t end = text.find("] "); end != std::string_view::npos)
      text.remove_prefix(end + 2);
    throw Error(
        fmt::format("the header is not valid JSON (byte {}): {}", kLengthBytes + position, text));
  }

 private:
  enum class Place {
    start,           // before the header's object
    top,             // between the tensors
    top_value,       // after a tensor's name, or the metadata's
    metadata,        // between the entries of the metadata
    metadata_value,  // after a key there
    tensor,          // between the fields of a tensor
    tensor_value,    // after the name of a field
    list,            // within its list
  };

  [[noreturn]] void refuse(const std::string& what) const {
    switch (place_) {
      case Place::start:
        throw Error(fmt::format("the header is {}, not a JSON object", what));
      case Place::metadata_value:
        throw Error(fmt::format("'{}' of {} is {}, not a string", field_, kMetadataKey, what));
      case Place::tensor_value:
        throw Error(fmt::format("'{}' of tensor '{}' is {}, not {}", field_, name_, what,
                                field_ == "dtype" ? "a string" : "a list"));
      case Place::list:
        throw Error(fmt::format("'{}' of tensor '{}' holds {}, not a non-negative integer", field_,
                                name_, what));
      default:
        throw Error(fmt::format("'{}' is {}, not a JSON object", name_, what));
    }
  }

  Place place_ = Place::start;
  std::set<std::string> seen_;
  std::string name_;   // of the current tensor, or __metadata__
  std::string field_;  // of that tensor, or the key within __metadata__
  std::optional<ElementType> type_;
  std::optional<std::vector<int64_t>> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
};

// Also refuses empty shapes whose other sides are too large: LibTorch computes strides from them.
uint64_t bytes_of(const std::string& name, const Entry& entry) {
  int64_t room = static_cast<int64_t>(size_of(entry.type));
  bool empty = false;
  for (const int64_t side : entry.shape) {
    empty = empty || side == 0;
    if (__builtin_mul_overflow(room, std::max<int64_t>(side, 1), &room))
      throw Error(fmt::format("the shape of tensor '{}' is too large", name));
  }
  return empty ? 0 : static_cast<uint64_t>(room);
}

void check_layout(const Header& header, uint64_t data_size) {
  std::vector<std::pair<const std::string*, const Entry*>> in_file;
  for (const auto& [name, entry] : header.entries) {
    if (entry.begin > entry.end)
      throw Error(fmt::format("tensor '{}' ends (byte {}) before it begins (byte {})", name,
                              entry.end, entry.begin));
    if (entry.end > data_size)
      throw Error(fmt::format("tensor '{}' ends at byte {} of the data, which has only {}", name,
                              entry.end, data_size),
                  "the file may have been cut off: copy or download it again");
    if (const uint64_t bytes = bytes_of(name, entry); bytes != entry.end - entry.begin)
      throw Error(fmt::format("tensor '{}' of {} [{}] needs {} bytes, its data_offsets give it {}",
                              name, info_of(entry.type).name, fmt::join(entry.shape, ", "), bytes,
                              entry.end - entry.begin));
    in_file.emplace_back(&name, &entry);
  }
  std::sort(in_file.begin(), in_file.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second->begin, a.second->end) < std::tie(b.second->begin, b.second->end);
  });
  uint64_t covered = 0;
  for (const auto& [name, entry] : in_file) {
    if (entry->begin < covered)
      throw Error(fmt::format("tensor '{}' overlaps the one before it, at byte {} of the data",
                              *name, entry->begin));
    if (entry->begin > covered)
      throw Error(fmt::format("bytes {} to {} of the data, before tensor '{}', belong to no tensor",
                              covered, entry->begin, *name));
    covered = entry->end;
  }
  if (covered < data_size)
    throw Error(fmt::format("the last {} bytes belong to no tensor", data_size - covered));
}

// One JSON string, quotes included.
std::string quoted(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::exception&) {
    throw Error(fmt::format("the name or metadata '{}' is not valid UTF-8", text));
  }
}

}  // namespace

uint64_t size_of(ElementType type) {
  return info_of(type).size;
}

Header parse_header(std::string_view file) {
  if (file.size() < kLengthBytes)
    throw Error(fmt::format("too short for a safetensors file: {} bytes", file.size()));
  uint64_t length = 0;
  std::memcpy(&length, file.data(), kLengthBytes);
  if (length > kLongestHeader)
    throw Error(fmt::format("the header's length, {} bytes, is over the format's limit of {}",
                            length, kLongestHeader),
                "this is probably not a safetensors file");
  if (length > file.size() - kLengthBytes)
    throw Error(fmt::format("the header's length is {} bytes, but only {} follow", length,
                            file.size() - kLengthBytes),
                "the file may have been cut off: copy or download it again");
  std::string_view text = file.substr(kLengthBytes, length);
  if (!text.starts_with('{')) throw Error("the header does not begin with '{'");
  // The JSON parser takes a zero byte as the end and would ignore what follows.
  if (text.find('\0') != std::string_view::npos) throw Error("the header holds a zero byte");
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  if (!text.ends_with('}')) throw Error("the header does not end with '}' and spaces");

  HeaderReader reader;
  json::sax_parse(text.begin(), text.end(), &reader);
  reader.header.data_start = kLengthBytes + static_cast<size_t>(length);
  check_layout(reader.header, file.size() - reader.header.data_start);
  return std::move(reader.header);
}

std::string format_header(Header& header, std::vector<std::string>& order) {
  std::vector<std::pair<const std::string*, Entry*>> in_file;
  for (auto& [name, entry] : header.entries) {
    if (name == kMetadataKey)
      throw Error(fmt::format("a tensor cannot have the name '{}'", kMetadataKey));
    in_file.emplace_back(&name, &entry);
  }
  std::stable_sort(in_file.begin(), in_file.end(),
                   [](const auto& a, const auto& b) { return a.second->type < b.second->type; });

  std::string text = "{";
  const auto separator = [&text] { return text.size() == 1 ? "" : ","; };
  if (!header.metadata.empty()) {
    std::vector<std::string> pairs;
    for (const auto& [key, value] : header.metadata)
      pairs.push_back(fmt::format("{}:{}", quoted(key), quoted(value)));
    text += fmt::format("\"{}\":{{{}}}", kMetadataKey, fmt::join(pairs, ","));
  }
  uint64_t offset = 0;
  for (const auto& [name, entry] : in_file) {
    entry->begin = offset;
    entry->end = offset += bytes_of(*name, *entry);
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", separator(),
                        quoted(*name), info_of(entry->type).name, fmt::join(entry->shape, ","),
                        entry->begin, entry->end);
    order.push_back(*name);
  }
  text += '}';
  text.resize(round_up(text.size(), kLengthBytes), ' ');
  if (text.size() > kLongestHeader)
    throw Error(fmt::format("the header would have {} bytes, over the format's limit of {}",
                            text.size(), kLongestHeader));

  header.data_start = kLengthBytes + text.size();
  const uint64_t length = text.size();
  std::string bytes(kLengthBytes, '\0');
  std::memcpy(bytes.data(), &length, kLengthBytes);
  return bytes + text;
}

}  // namespace tessera::safetensors
