"""Scores: those of sacreBLEU."""

import unittest

import tessera

HYPOTHESES = ["the cat sat on the mat today", "there is a dog in the garden", "hello, world!"]
REFERENCES = ["the cat sat on a mat today", "there is a small dog in the garden", "hello , world !"]
WORSE = ["a cat mat", "dog garden", "world"]


class Metrics(unittest.TestCase):
    def test_bleu(self):
        score = tessera.bleu(HYPOTHESES, REFERENCES)
        self.assertEqual(float(score), score.score)
        self.assertEqual(str(score), f"BLEU|{score.signature} = " + str(score).split(" = ", 1)[1])
        self.assertIn("tok:13a|smooth:exp", score.signature)
        self.assertEqual(score.parts.hyp_len, 18)
        self.assertEqual(len(score.sentences), 3)
        self.assertAlmostEqual(float(tessera.bleu(REFERENCES, REFERENCES)), 100)
        self.assertGreater(float(tessera.bleu(HYPOTHESES, [REFERENCES, HYPOTHESES])), 99)
        with self.assertRaisesRegex(tessera.UsageError, "tokenization"):
            tessera.bleu(HYPOTHESES, REFERENCES, tokenization="zh")
        with self.assertRaisesRegex(tessera.Error, "3 texts and 2 references"):
            tessera.bleu(HYPOTHESES, REFERENCES[:2])

    def test_as_sacrebleu(self):
        try:
            import sacrebleu
        except ImportError:
            self.skipTest("no sacreBLEU")
        for smoothing in ("exp", "floor", "add-k", "none"):
            theirs = sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES], smooth_method=smoothing)
            self.assertAlmostEqual(float(tessera.bleu(HYPOTHESES, REFERENCES, smoothing=smoothing)), theirs.score, 9)
        for words in (False, True):
            theirs = sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES], word_order=2 if words else 0)
            self.assertAlmostEqual(float(tessera.chrf(HYPOTHESES, REFERENCES, words=words)), theirs.score, 9)

    def test_others(self):
        self.assertEqual(tessera.chrf(HYPOTHESES, REFERENCES, words=True).name, "chrF2++")
        self.assertEqual(list(tessera.rouge(HYPOTHESES, REFERENCES)), ["ROUGE-1", "ROUGE-2", "ROUGE-L"])
        self.assertAlmostEqual(float(tessera.rouge(REFERENCES, REFERENCES)["ROUGE-L"]), 100)

    def test_comparison(self):
        comparison = tessera.bleu(HYPOTHESES, REFERENCES, compare_with=WORSE, samples=100).comparison
        self.assertGreater(comparison.difference, 0)
        self.assertAlmostEqual(comparison.system.score - comparison.baseline.score, comparison.difference)
        self.assertIsNone(tessera.bleu(HYPOTHESES, REFERENCES).comparison)


if __name__ == "__main__":
    unittest.main()
