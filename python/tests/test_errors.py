"""What goes wrong says what, and what to do."""

import traceback
import unittest

import tessera
import torch


class Errors(unittest.TestCase):
    def setUp(self):
        self.codes = torch.randn(10, 4)
        self.labels = torch.arange(10)
        self.points = (self.codes, torch.randn(10, 4), self.codes, self.labels)

    def test_have_a_hint(self):
        with self.assertRaises(tessera.UsageError) as caught:
            tessera.Trajectory("vp-sqr")
        self.assertIn("did you mean 'vp-sqrt'", str(caught.exception))
        self.assertIn("vp-cosine", caught.exception.hint)
        if hasattr(caught.exception, "add_note"):  # Python 3.11 shows notes
            self.assertIn("hint: known: ot", "".join(traceback.format_exception(caught.exception)))

    def test_of_options_are_value_errors(self):
        with self.assertRaisesRegex(ValueError, r"'r' must be a number in \[0, 1\], got 2"):
            tessera.Process(r=2)
        with self.assertRaisesRegex(ValueError, r"unknown key 'trajectroy' \(did you mean 'trajectory'\?\)"):
            tessera.Process(trajectroy="ot")
        with self.assertRaisesRegex(ValueError, "'horizon' must be an integer"):
            tessera.Process(horizon="long")
        with self.assertRaisesRegex(ValueError, "'order' must be one of least-first, most-first"):
            tessera.Bits(8, order="first")
        with self.assertRaisesRegex(ValueError, "'undecodable' cannot have 'a' in a list"):
            tessera.EmbeddingTable(self.codes, undecodable=["a"])
        with self.assertRaisesRegex(ValueError, "'r' cannot be <object"):
            tessera.Process(r=object())
        with self.assertRaisesRegex(ValueError, "there is no option 'stesp' .did you mean 'steps'"):
            tessera.Translator("nowhere", stesp=3)
        self.assertTrue(issubclass(tessera.UsageError, tessera.Error))

    def test_of_files(self):
        for load in (tessera.Translator, tessera.ImageSampler, tessera.Tokenizer, tessera.Corpus):
            with self.assertRaisesRegex(tessera.Error, "/nowhere"):
                load("/nowhere")

    def test_of_operators_are_the_same(self):
        x0, eps, codes, labels = self.points
        with self.assertRaisesRegex(tessera.Error, r"labels must be in \[0, 10\), found 12"):
            torch.ops.tessera.exit_time(x0, eps, codes, labels + 3)
        with self.assertRaisesRegex(tessera.UsageError, "unknown trajectory 'up'"):
            tessera.exit_time(*self.points, "up")
        with self.assertRaisesRegex(tessera.Error, "eps"):
            tessera.exit_time(x0, eps[:, :3], codes, labels)
        with self.assertRaisesRegex(tessera.Error, "NaN|finite"):
            tessera.exit_time(x0 * float("nan"), eps, codes, labels)

    def test_of_types(self):
        table = tessera.EmbeddingTable(self.codes)
        with self.assertRaises(TypeError):
            table.encode("abc")
        with self.assertRaises(tessera.Error):
            table.encode(torch.ones(3))  # not integers
        with self.assertRaises(TypeError):
            tessera.Translator(7)

    def test_of_callbacks_come_back(self):
        table = tessera.EmbeddingTable(self.codes)

        def broken(x, t, previous):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            tessera.Sampler(tessera.Process(), table, broken).run(2, (3, 4))
        with self.assertRaises(RuntimeError):  # no tensor
            tessera.Sampler(tessera.Process(), table, lambda x, t, previous: None).run(2, (3, 4))


if __name__ == "__main__":
    unittest.main()
