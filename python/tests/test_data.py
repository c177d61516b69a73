"""Corpora and tokenizers."""

import gc
import pathlib
import unittest

import tessera

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/compatibility/fixture/text/data"


class Corpora(unittest.TestCase):
    def test_are_views_of_files(self):
        corpus = tessera.Corpus(DATA)
        self.assertEqual(corpus.splits, ["test", "train", "valid"])
        self.assertTrue("test" in corpus and "other" not in corpus)
        split = corpus["test"]
        ids = split.source(0)
        self.assertFalse(ids.flags.owndata)
        with self.assertRaises(ValueError):
            ids[0] = 3
        text = corpus.tokenizer.decode(ids)
        self.assertEqual(text, split.source_lines[0])
        self.assertEqual(corpus.tokenizer.decode(split.target(len(split) - 1)), split.target_lines[-1])
        copied = ids.tolist()
        del corpus, split
        gc.collect()
        self.assertEqual(ids.tolist(), copied)  # the file is still mapped

    def test_refuse_what_is_not_there(self):
        corpus = tessera.Corpus(DATA)
        with self.assertRaisesRegex(tessera.Error, "other"):
            corpus["other"]
        with self.assertRaises(IndexError):
            corpus["test"].source(len(corpus["test"]))
        with self.assertRaises(tessera.Error):
            corpus["train"].source_lines

    def test_dates_are_made(self):
        pairs = tessera.date_pairs(seed=1, pairs=50)
        self.assertEqual({name: len(all) for name, all in pairs.items()}, {"train": 50, "valid": 500, "test": 1000})
        for source, target in pairs["train"]:
            self.assertRegex(target, r"^\d{4}-\d\d-\d\d$")
            self.assertTrue(source)
        self.assertEqual(pairs, tessera.date_pairs(pairs=50))
        with self.assertRaises(tessera.UsageError):
            tessera.date_pairs(pairs=0)


if __name__ == "__main__":
    unittest.main()
