#include "image/png.h"

#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "tensor/tensor_checks.h"

#include <ATen/ops/empty.h>
#include <png.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <vector>

// libpng reports an error by jumping back to setjmp(), which skips destructors. So the functions
// that call it hold nothing with a destructor; their objects belong to the caller.
namespace tessera::image {
namespace {

constexpr size_t kSignatureBytes = 8;
constexpr const char* kTooShort = "it ends too early";
constexpr int64_t kMostPixels = int64_t{1} << 26;  // of a picture that is read

void keep_message(png_structp png, png_const_charp message) {
  *static_cast<std::string*>(png_get_error_ptr(png)) = message;
  png_longjmp(png, 1);
}

void ignore_warning(png_structp, png_const_charp) {}

struct Reader {
  explicit Reader(std::string_view bytes) : rest(bytes) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &message, keep_message, ignore_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    require(info != nullptr, "cannot start libpng");
    png_set_user_limits(png, kLongestSide, kLongestSide);
    png_set_read_fn(png, this, [](png_structp reader, png_bytep to, size_t size) {
      auto& left = static_cast<Reader*>(png_get_io_ptr(reader))->rest;
      if (size > left.size()) png_error(reader, kTooShort);
      std::memcpy(to, left.data(), size);
      left.remove_prefix(size);
    });
  }
  ~Reader() { png_destroy_read_struct(&png, &info, nullptr); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // False if libpng found an error: `message` says which.
  bool read_header() {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_read_info(png, info);
    png_set_expand_gray_1_2_4_to_8(png);
    png_set_interlace_handling(png);
    return true;
  }

  bool read_rows(png_bytepp rows) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_read_update_info(png, info);
    png_read_image(png, rows);
    png_read_end(png, nullptr);
    return true;
  }

  std::string_view rest;
  std::string message;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

// Whether all chunks lie within the file: libpng allocates as much as a chunk claims to have before
// it reads any of it.
bool is_whole(std::string_view bytes) {
  constexpr size_t kFrame = 12;  // length, name and check sum of a chunk
  for (bytes.remove_prefix(kSignatureBytes); bytes.size() >= kFrame;) {
    const size_t length = png_get_uint_32(reinterpret_cast<png_const_bytep>(bytes.data()));
    if (length > bytes.size() - kFrame) return false;
    if (bytes.substr(4, 4) == "IEND") return true;
    bytes.remove_prefix(kFrame + length);
  }
  return false;
}

// Why the picture's values cannot be taken as they are; empty: they can.
std::string_view unsupported(png_structp png, png_infop info) {
  const int type = png_get_color_type(png, info);
  if (type == PNG_COLOR_TYPE_PALETTE) return "paletted";
  if ((type & PNG_COLOR_MASK_ALPHA) != 0) return "with an alpha channel";
  if (png_get_valid(png, info, PNG_INFO_tRNS) != 0) return "with a transparent colour";
  if (png_get_bit_depth(png, info) == 16) return "16-bit";
  return {};
}

struct Writer {
  Writer() {
    png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &message, keep_message, ignore_warning);
    if (png != nullptr) info = png_create_info_struct(png);
    require(info != nullptr, "cannot start libpng");
    png_set_write_fn(
        png, &bytes,
        [](png_structp writer, png_bytep from, size_t size) {
          static_cast<std::string*>(png_get_io_ptr(writer))
              ->append(reinterpret_cast<const char*>(from), size);
        },
        nullptr);
  }
  ~Writer() { png_destroy_write_struct(&png, &info); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  bool write(png_uint_32 width, png_uint_32 height, int color_type, png_bytepp rows) {
    if (setjmp(png_jmpbuf(png)) != 0) return false;
    png_set_IHDR(png, info, width, height, 8, color_type, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    return true;
  }

  std::string bytes, message;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

//   pixels  [H, W, C] contiguous
std::vector<png_bytep> rows_of(const at::Tensor& pixels) {
  std::vector<png_bytep> rows(static_cast<size_t>(pixels.size(0)));
  uint8_t* row = pixels.mutable_data_ptr<uint8_t>();
  for (png_bytep& each : rows) {
    each = row;
    row += pixels.stride(0);
  }
  return rows;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t begin = 0; begin < bytes.size(); begin += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - begin);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (k < count ? static_cast<uint8_t>(bytes[begin + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= count ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

}  // namespace

at::Tensor decode_png(std::string_view bytes, const std::string& name) {
  const bool signed_as_png =
      bytes.size() >= kSignatureBytes &&
      png_sig_cmp(reinterpret_cast<png_const_bytep>(bytes.data()), 0, kSignatureBytes) == 0;
  if (!signed_as_png)
    throw Error(fmt::format("'{}' is not a PNG{}", name, bytes.empty() ? ": it is empty" : ""));

  const auto damaged = [&](std::string_view what) {
    return Error(fmt::format("'{}' is a damaged PNG: {}", name, what));
  };
  if (!is_whole(bytes)) throw damaged(kTooShort);
  Reader reader(bytes);
  if (!reader.read_header()) throw damaged(reader.message);
  if (const std::string_view what = unsupported(reader.png, reader.info); !what.empty())
    throw Error(fmt::format("'{}' is {}: images are 8-bit grey or RGB", name, what),
                "convert it first, to 8-bit grey or RGB without transparency");
  const int64_t height = png_get_image_height(reader.png, reader.info);
  const int64_t width = png_get_image_width(reader.png, reader.info);
  const int64_t channels = png_get_channels(reader.png, reader.info);
  if (height * width > kMostPixels)
    throw Error(fmt::format("'{}' has {} x {} pixels: images of up to {} are read", name, width,
                            height, with_commas(kMostPixels)),
                "make it smaller first");
  const at::Tensor pixels = at::empty({height, width, channels}, at::kByte);
  std::vector<png_bytep> rows = rows_of(pixels);
  if (!reader.read_rows(rows.data())) throw damaged(reader.message);
  return pixels.permute({2, 0, 1}).contiguous();
}

at::Tensor read_png(const std::filesystem::path& path) {
  return decode_png(read_file(path), path.string());
}

std::string encode_png(const Pixels& pixels) {
  const auto [values, height, width, channels] = pixels;
  require((channels == 1 || channels == 3) && std::min(height, width) > 0 &&
              std::max(height, width) <= kLongestSide,
          "a picture must be [1 or 3, H, W] with sides of 1 to {} pixels, got [{}, {}, {}]",
          kLongestSide, channels, height, width);
  require(static_cast<int64_t>(values.size()) == height * width * channels,
          "a picture of {} x {} x {} has {} values", height, width, channels, values.size());
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < height; ++y)  // libpng does not write to them
    rows.push_back(const_cast<png_bytep>(values.data() + y * width * channels));
  Writer writer;
  const bool written =
      writer.write(static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
                   channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB, rows.data());
  require(written, "cannot make a PNG: {}", writer.message);
  return std::move(writer.bytes);
}

std::string encode_png(const at::Tensor& picture) {
  require_defined(picture, "picture");
  require_same_dtype(picture, at::kByte, "picture");
  require(picture.dim() == 3, "a picture must be [C, H, W], got {}", shape_text(picture.sizes()));
  const at::Tensor pixels = picture.to(at::kCPU).permute({1, 2, 0}).contiguous();
  return encode_png(
      Pixels{.values = {pixels.const_data_ptr<uint8_t>(), static_cast<size_t>(pixels.numel())},
             .height = pixels.size(0),
             .width = pixels.size(1),
             .channels = pixels.size(2)});
}

void write_png(const std::filesystem::path& path, const at::Tensor& picture) {
  write_file_atomically(path, encode_png(picture), Links::follow);
}

std::string png_data_uri(const at::Tensor& picture) {
  return "data:image/png;base64," + base64(encode_png(picture));
}

std::string png_data_uri(const Pixels& pixels) {
  return "data:image/png;base64," + base64(encode_png(pixels));
}

}  // namespace tessera::image
