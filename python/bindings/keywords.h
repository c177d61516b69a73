#pragma once

#include "bindings.h"

#include "config/config.h"
#include "engine/option_list.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Keyword arguments from the declarations of options: their names, defaults, bounds and meanings
// stand there and nowhere else.
namespace tessera::python {

// A keyword argument, as signatures and documents show it.
struct Parameter {
  std::string name, type, value, meaning;  // type and default as Python writes them
};

// --- options with configuration keys ---

// Binds the fields of the options of one function.
using Declare = std::function<void(config::Schema& schema)>;

std::vector<Parameter> parameters_of(const Declare& declare);

// Sets the fields from keyword arguments. Throws UsageError, which names the arguments.
void set_options(const std::string& function, const py::kwargs& given, const Declare& declare);

// --- options of requests (engine/option_list.h) ---

std::vector<Parameter> text_parameters();
std::vector<Parameter> image_parameters();

// Sets the options that are given; the others stay as they are. Throws UsageError.
void set_options(const std::string& function, const py::kwargs& given, GenerateOptions& options);
void set_options(const std::string& function, const py::kwargs& given, SampleOptions& options);

// Options as a dictionary, without those that are not set.
py::dict effective_options(GenerateOptions options);
py::dict effective_options(SampleOptions options);

// --- documents ---

// A docstring that begins with a signature: "name(leading, positional, *, own, keywords) ->
// result".
struct Docstring {
  std::string name = "__init__";
  std::string leading = "self";  // what stands first: "self, folder: str"
  std::string positional = {};   // the keyword argument that may also be given by position
  std::string own = {};          // keyword arguments that no declaration has: "seed: int = 1"
  std::vector<Parameter> keywords = {};
  std::string result = "None";
  std::string text = {};
};
std::string written(const Docstring& doc);

// With an argument that may also be given by position, unless it is None.
py::kwargs with(const py::kwargs& given, const char* name, const py::object& value);

}  // namespace tessera::python
