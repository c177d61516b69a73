"""Trained models: the same results as the program's."""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import tessera
import torch

MAKER = os.environ.get("TESSERA_MODEL_MAKER")
LINES = ["a b c d", "", "z y x", "hello"]


@unittest.skipUnless(MAKER, "TESSERA_MODEL_MAKER names no program that makes models")
class Models(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        root = pathlib.Path(cls.folder.name)
        cls.text, cls.images = root / "text", root / "images"
        subprocess.run([MAKER, cls.text, cls.images], check=True)
        cls.translator = tessera.Translator(cls.text, steps=6, candidates="2x2")
        cls.sampler = tessera.ImageSampler(cls.images, steps=4)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def program(self, *arguments, lines=""):
        command = [sys.executable, "-m", "tessera", "-q", *map(str, arguments)]
        return subprocess.run(command, input=lines, check=True, capture_output=True, text=True).stdout

    def test_translate_as_the_program_does(self):
        ours = self.translator(LINES)
        theirs = self.program("generate", self.text, "--steps", 6, "--candidates", "2x2", lines="\n".join(LINES) + "\n")
        self.assertEqual(ours, theirs.splitlines())
        self.assertEqual(self.translator(LINES[0]), ours[0])
        self.assertEqual(ours[1], "")

    def test_change_options_for_a_call(self):
        options = self.translator.options()
        self.assertEqual((options["steps"], options["candidates"]), (6, "2x2"))
        self.assertEqual(self.translator.options(steps=3)["steps"], 3)
        three = self.translator.candidates("a b", steps=3, candidates=3)
        self.assertEqual((three.nfe, len(three.candidates)), (3, 3))
        with self.assertRaisesRegex(tessera.UsageError, "beam"):
            self.translator("a b", beam=3)  # for other models
        with self.assertRaisesRegex(tessera.UsageError, "steps"):
            tessera.Translator(self.text, steps=0)

    def test_have_candidates(self):
        translation = self.translator.candidates(LINES)[0]
        self.assertEqual(len(translation.candidates), 4)
        self.assertEqual(translation.candidates[translation.chosen].text, translation.text)
        self.assertEqual(sorted(translation.ranking), [0, 1, 2, 3])
        self.assertLess(translation.candidates[0].confidence, 0)
        self.assertFalse(translation.truncated)

    def test_show_their_steps(self):
        steps = self.translator.steps("a b c d")
        seen = list(steps)
        self.assertEqual([step.index for step in seen], list(range(6)))
        self.assertEqual([step.calls for step in seen], [6] * 6)
        self.assertEqual(seen[0].t, 100)
        result = steps.result
        self.assertEqual(result.text, self.translator("a b c d"))
        self.assertEqual(seen[-1].texts[result.chosen], result.text)
        self.assertEqual(seen[0].labels.shape, seen[0].noisy.shape)
        self.assertEqual([len(row) for row in seen[0].pieces], [each.length for each in result.candidates])
        self.assertEqual(seen[0].visible.sum(dim=1).tolist(), [each.length for each in result.candidates])
        self.assertEqual(seen[0].labels.shape[0], 4)

    def test_stop_when_their_steps_are_not_wanted(self):
        steps = self.translator.steps("a b c d")
        next(steps)
        self.assertEqual(steps.result.text, self.translator("a b c d"))
        steps = self.translator.steps("a b c d")
        next(steps)
        del steps
        self.assertEqual(list(self.translator.steps("")), [])
        with self.assertRaisesRegex(tessera.UsageError, "beam"):
            list(self.translator.steps("a", beam=2))

    def test_call_back(self):
        texts = []
        done = self.translator.watch("a b c d", lambda step: texts.append(step.texts[0]))
        self.assertEqual((done.text, len(texts)), (self.translator("a b c d"), 6))
        self.assertIsNone(self.translator.watch("a b c d", lambda step: step.index < 2))
        with self.assertRaises(ZeroDivisionError):
            self.translator.watch("a b c d", lambda step: 1 / 0)

    def test_serve_threads(self):
        expected = self.translator(LINES)
        found = [None] * 4

        def work(place):
            found[place] = self.translator(LINES)

        threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [expected] * 4)

    def test_hear_signals(self):
        code = (
            "import os, signal, sys, threading, tessera\n"
            "translator = tessera.Translator(sys.argv[1], steps=100, candidates='1x64')\n"
            "threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
            "try:\n"
            "    translator(['a b c d e f g h'] * 2000)\n"
            "except KeyboardInterrupt:\n"
            "    sys.exit(3)\n"
        )
        done = subprocess.run([sys.executable, "-c", code, self.text], timeout=100)
        self.assertEqual(done.returncode, 3)

    def test_know_their_tokenizer(self):
        tokenizer = self.translator.tokenizer
        ids = tokenizer.encode("a b")
        self.assertEqual(tokenizer.decode(ids), "a b")
        self.assertEqual(tokenizer.pieces(ids), ["a", "b"])
        self.assertEqual(tokenizer.id("nothing"), tokenizer.unk)
        self.assertEqual([each.tolist() for each in tokenizer.encode(["a", "b a"])], [[ids[0]], [ids[1], ids[0]]])
        with self.assertRaises(tessera.Error):
            tokenizer.decode([len(tokenizer)])
        self.assertEqual(len(tessera.Tokenizer(self.text)), len(tokenizer))

    def test_refuse_texts_that_are_none(self):
        with self.assertRaises(TypeError):
            self.translator(5)
        with self.assertRaisesRegex(tessera.Error, "UTF-8"):
            self.translator(b"\xff\xfe")
        self.assertEqual(self.translator([]), [])
        with self.assertRaises(tessera.Error):
            tessera.Translator(self.images)
        with self.assertRaises(tessera.Error):
            tessera.ImageSampler(self.text)

    def test_make_images(self):
        images = self.sampler.sample(3)
        self.assertEqual((tuple(images.shape), images.dtype), ((3, *self.sampler.shape), torch.uint8))
        self.assertTrue(torch.equal(images[1:], self.sampler.sample(2, first=1)))
        self.assertFalse(torch.equal(images, self.sampler.sample(3, seed=2)))
        self.assertEqual(self.sampler.options(steps=2)["steps"], 2)
        with self.assertRaises(tessera.UsageError):
            self.sampler.sample(1, label="no such class")
        with self.assertRaises(tessera.Error):
            self.sampler.sample(-1)


if __name__ == "__main__":
    unittest.main()
