"""Keyword arguments are the options of the library: names, defaults and choices as docs/options.md has them."""

import ast
import pathlib
import re
import unittest

import tessera

OPTIONS = pathlib.Path(__file__).resolve().parents[2] / "docs/options.md"


def keywords_of(function):
    """Keyword arguments in the signature that a docstring begins with: names, types and defaults."""
    head = function.__doc__.split(" -> ")[0]
    arguments = ast.parse(f"def {head}: pass").body[0].args
    positional = arguments.args[len(arguments.args) - len(arguments.defaults) :]
    pairs = [*zip(positional, arguments.defaults), *zip(arguments.kwonlyargs, arguments.kw_defaults)]
    return {each.arg: (ast.unparse(each.annotation), ast.literal_eval(default)) for each, default in pairs}


def rows(heading):
    """Rows of the table below a heading, as lists of cells."""
    text = OPTIONS.read_text().split(f"\n{heading}\n", 1)[1]
    text = re.split(r"\n##+ ", text)[0]
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    return [[cell.strip().strip("`").replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def value(kind, text):
    """A default of docs/options.md."""
    special = {"true": True, "false": False, "[]": ()}
    if "none" not in kind.split(" | "):  # where it is no choice, it is no value
        special['"none"'] = None
    return special[text] if text in special else ast.literal_eval(text)


class Keywords(unittest.TestCase):
    def compare(self, function, prefix, others=(), missing=()):
        declared = {
            key.removeprefix(prefix): (kind, default)
            for heading in ("## Images", "## Text")  # of keys that both have, texts have the library's defaults
            for key, kind, default, _ in rows(heading)
            if key.startswith(prefix)
        }
        given = keywords_of(function)
        self.assertEqual(set(given) - set(others), set(declared) - set(missing))
        for name in set(declared) - set(missing):
            kind, default = declared[name]
            written, ours = given[name]
            if "|" in kind and "number" not in kind:
                self.assertEqual(written, f"typing.Literal[{', '.join(repr(each) for each in kind.split(' | '))}]")
            yield name, ours, value(kind, default)

    def test_of_a_process(self):
        adaptive = {f"adaptive_{name}" for name in ("stride", "start", "bin", "positions")}
        for name, ours, theirs in self.compare(tessera.Process.__init__, "process.", missing=adaptive):
            self.assertEqual(ours, theirs, name)

    def test_of_an_objective(self):
        for name, ours, theirs in self.compare(tessera.objective, "objective.", others=["mask"]):
            self.assertEqual(ours, theirs, name)

    def test_of_a_sampler(self):
        symbols = {"predictor", "order", "temperature", "likeliest_last", "correctors", "corrector_size",
                   "corrector_from", "last_time"}  # fmt: skip
        own = {"steps", "boundary_of", "final_call"}  # which models of text and images set themselves
        for name, ours, theirs in self.compare(
            tessera.Sampler.__init__, "sampler.", others=["shown", "logit_scale"], missing=symbols
        ):
            if name not in own:
                self.assertEqual(ours, theirs, name)

    def test_of_requests(self):
        loading = {"device", "precision", "checkpoint", "reranker", "seed"}
        for heading, model, function in (
            ("### Text", tessera.Translator, "__call__"),
            ("### Images", tessera.ImageSampler, "sample"),
        ):
            declared = {row[0]: row[4] for row in rows(heading)}
            given = keywords_of(model.__init__)
            self.assertEqual(set(given) - loading, set(declared))
            of_call = keywords_of(getattr(model, function))
            self.assertEqual(set(of_call) - {"seed", "first", "label"}, set(declared))
            for name in declared:
                self.assertIsNone(given[name][1], name)
                self.assertIn(f"    {name}: {declared[name]}\n", model.__init__.__doc__)

    def test_have_an_effect(self):
        process = tessera.Process("vp-sqrt", horizon=700, r=0.25)
        self.assertEqual((process.trajectory.kind, process.horizon, process.r), ("vp-sqrt", 700, 0.25))
        self.assertEqual(tessera.Bits(3, size=2).encode([5]).tolist(), [[2, -2, 2]])
        self.assertEqual(tessera.Bits(3, order="most-first").encode([4]).tolist(), [[1, -1, -1]])
        self.assertEqual(tessera.EmbeddingTable([[1.0, 0.0], [0.0, 1.0]], undecodable=[0]).decodable, 1)

    def test_take_numbers_of_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        process = tessera.Process(r=numpy.float32(0.5), horizon=numpy.int64(30))
        self.assertEqual((process.r, process.horizon), (0.5, 30))
        self.assertEqual(tessera.EmbeddingTable(numpy.eye(3), undecodable=numpy.array([0, 1])).decodable, 1)


if __name__ == "__main__":
    unittest.main()
