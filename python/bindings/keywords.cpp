#include "keywords.h"

#include "base/nearest_name.h"
#include "base/require.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace tessera::python {
namespace {

std::string shown(const py::handle& value) {
  return py::cast<std::string>(py::repr(value));
}

std::string quoted(std::string_view text) {
  return shown(py::str(text.data(), text.size()));
}

// A value of a list, or one that stands alone.
config::Value value_of(const std::string& function, const std::string& name,
                       const py::handle& given) {
  if (given.is_none()) return {};
  if (py::isinstance<py::bool_>(given)) return py::cast<bool>(given);
  if (py::isinstance<py::str>(given)) return py::cast<std::string>(given);
  if (py::isinstance<py::float_>(given)) return py::cast<double>(given);
  if (py::isinstance<py::int_>(given)) {
    const auto number = py::reinterpret_borrow<py::int_>(given);
    if (number <= py::int_(std::numeric_limits<int64_t>::max())) return py::cast<int64_t>(number);
    return py::cast<uint64_t>(number);
  }
  // Numbers and arrays of NumPy, tensors.
  if (py::hasattr(given, "tolist")) return value_of(function, name, given.attr("tolist")());
  if (py::hasattr(given, "__fspath__"))
    return py::cast<std::string>(py::str(given.attr("__fspath__")()));
  if (py::isinstance<py::sequence>(given)) {
    std::vector<int64_t> integers;
    std::vector<double> numbers;
    for (const py::handle each : given) {
      const config::Value value = value_of(function, name, each);
      if (const auto* integer = std::get_if<int64_t>(&value)) {
        integers.push_back(*integer);
        numbers.push_back(static_cast<double>(*integer));
      } else if (const auto* number = std::get_if<double>(&value)) {
        numbers.push_back(*number);
      } else {
        throw UsageError(
            fmt::format("{}: '{}' cannot have {} in a list", function, name, shown(each)));
      }
    }
    if (integers.size() == numbers.size()) return integers;
    return numbers;
  }
  throw UsageError(fmt::format("{}: '{}' cannot be {}", function, name, shown(given)));
}

std::string type_of(const config::Option& option) {
  using config::Kind;
  switch (option.kind) {
    case Kind::boolean:
      return "bool";
    case Kind::integer:
    case Kind::unsigned_integer:
      return "int";
    case Kind::number:
      return "float";
    case Kind::optional_number:
      return "float | None";
    case Kind::string:
    case Kind::path:
      return "str";
    case Kind::choice: {
      std::vector<std::string> names;
      for (const std::string_view name : option.names) names.push_back(quoted(name));
      return fmt::format("typing.Literal[{}]", fmt::join(names, ", "));
    }
    case Kind::integer_list:
      return "collections.abc.Sequence[int]";
    case Kind::number_list:
      return "collections.abc.Sequence[float]";
    case Kind::string_list:
      return "collections.abc.Sequence[str]";
  }
  return "typing.Any";
}

std::string default_of(const config::Option& option) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>)
          return "None";
        else if constexpr (requires { value.begin(); } && !std::is_same_v<T, std::string>)
          return value.empty() ? "()" : shown(py::tuple(py::cast(value)));
        else
          return shown(py::cast(value));
      },
      option.initial);
}

// "fast|balanced|best" as a type: a choice of words, or any text.
std::string type_of_values(std::string_view values) {
  const auto word = [](char c) { return std::islower(static_cast<unsigned char>(c)) || c == '-'; };
  std::vector<std::string> names;
  while (!values.empty()) {
    const std::string_view name = values.substr(0, values.find('|'));
    if (name.empty() || !std::ranges::all_of(name, word)) return "str";
    names.push_back(quoted(name));
    values.remove_prefix(std::min(values.size(), name.size() + 1));
  }
  return names.empty() ? "str" : fmt::format("typing.Literal[{}]", fmt::join(names, ", "));
}

template <class T>
std::string type_of_field(std::string_view values) {
  if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else if constexpr (std::is_same_v<T, int64_t>)
    return "int";
  else if constexpr (std::is_same_v<T, double>)
    return "float";
  else
    return type_of_values(values);
}

template <class Visit>
void visit_request(GenerateOptions& options, const Visit& visit) {
  engine::visit_sampler(options, visit);
  engine::visit_generation(options, visit);
}
template <class Visit>
void visit_request(SampleOptions& options, const Visit& visit) {
  engine::visit_sampler(options, visit);
  engine::visit_images(options, visit);
}

template <class Options>
std::vector<Parameter> request_parameters() {
  std::vector<Parameter> all;
  Options options;
  visit_request(options, [&](const engine::RequestOption& option, auto& field) {
    using T = typename std::decay_t<decltype(field)>::value_type;
    const engine::OptionInfo info = engine::described(option);
    all.push_back({info.name, type_of_field<T>(info.values) + " | None", "None", info.meaning});
  });
  return all;
}

// A keyword argument as the value of an option. Where an option takes text, numbers are text, too:
// candidates=5.
template <class T>
T option_value(const std::string& function, const std::string& name, const py::handle& given) {
  const config::Value value = value_of(function, name, given);
  if (const auto* same = std::get_if<T>(&value)) return *same;
  if constexpr (std::is_same_v<T, double>) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  }
  throw UsageError(fmt::format("{}: '{}' must be a value of type {}, got {}", function, name,
                               type_of_field<T>(""), shown(given)));
}

template <class Options>
void set_request(const std::string& function, const py::kwargs& given, Options& options) {
  std::vector<std::string_view> known;
  visit_request(options,
                [&](const engine::RequestOption& option, auto&) { known.push_back(option.name); });
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    require_option(std::ranges::find(known, name) != known.end(), "{}: there is no option '{}'{}",
                   function, name, did_you_mean(name, known));
    if (value.is_none()) continue;
    visit_request(options, [&, &v = value](const engine::RequestOption& option, auto& field) {
      using T = typename std::decay_t<decltype(field)>::value_type;
      if (option.name == name) field = option_value<T>(function, name, v);
    });
  }
}

template <class Options>
py::dict set_ones(Options& options) {
  py::dict all;
  visit_request(options, [&](const engine::RequestOption& option, const auto& field) {
    if (field) all[option.name] = *field;
  });
  return all;
}

}  // namespace

std::vector<Parameter> parameters_of(const Declare& declare) {
  config::Schema schema;
  declare(schema);
  std::vector<Parameter> all;
  for (const auto& [key, value] : schema.values()) {
    const config::Option& option = *schema.find(key);
    all.push_back({key, type_of(option), default_of(option), option.help});
  }
  return all;
}

void set_options(const std::string& function, const py::kwargs& given, const Declare& declare) {
  config::Schema schema;
  declare(schema);
  for (const auto& [key, value] : given) {
    const auto name = py::cast<std::string>(key);
    schema.set(name, value_of(function, name, value), function);
  }
  schema.finish();
}

std::vector<Parameter> text_parameters() {
  return request_parameters<GenerateOptions>();
}

std::vector<Parameter> image_parameters() {
  return request_parameters<SampleOptions>();
}

void set_options(const std::string& function, const py::kwargs& given, GenerateOptions& options) {
  set_request(function, given, options);
}

void set_options(const std::string& function, const py::kwargs& given, SampleOptions& options) {
  set_request(function, given, options);
}

py::dict effective_options(GenerateOptions options) {
  return set_ones(options);
}

py::dict effective_options(SampleOptions options) {
  return set_ones(options);
}

std::string written(const Docstring& doc) {
  std::vector<std::string> arguments{doc.leading}, named;
  std::string meanings;
  if (!doc.own.empty()) named.push_back(doc.own);
  for (const Parameter& each : doc.keywords) {
    auto& place = each.name == doc.positional ? arguments : named;
    place.push_back(fmt::format("{}: {} = {}", each.name, each.type, each.value));
    meanings += fmt::format("    {}: {}\n", each.name, each.meaning);
  }
  if (!named.empty()) arguments.push_back("*");
  arguments.insert(arguments.end(), named.begin(), named.end());
  return fmt::format("{}({}) -> {}\n\n{}\n{}", doc.name, fmt::join(arguments, ", "), doc.result,
                     doc.text, meanings);
}

py::kwargs with(const py::kwargs& given, const char* name, const py::object& value) {
  if (value.is_none()) return given;
  py::kwargs all = py::reinterpret_steal<py::kwargs>(PyDict_Copy(given.ptr()));
  all[name] = value;
  return all;
}

}  // namespace tessera::python
