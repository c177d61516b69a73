"""The examples run and do what they say. With TESSERA_PYTHON_ALL=1 in full, which takes minutes."""

import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import tessera

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"
ALL = os.environ.get("TESSERA_PYTHON_ALL") == "1"
MAKER = os.environ.get("TESSERA_MODEL_MAKER")


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def missing(*packages):
    return [package for package in packages if importlib.util.find_spec(package) is None]


class Examples(unittest.TestCase):
    def test_a_network_of_pytorch_learns_dates(self):
        if ALL:
            exact, _ = example("train_dates").main([])
            self.assertGreaterEqual(exact, 0.99)
        else:
            arguments = ["--updates", "80", "--batch", "32", "--tests", "20", "--steps", "4"]
            _, losses = example("train_dates").main(arguments)
            self.assertLess(sum(losses[-10:]), 0.7 * sum(losses[:10]))

    def test_compared_with_pytorch(self):
        shape = ["8000", "10000", "128"] if ALL else ["2000", "4000", "64"]
        ratio, memory = example("compare_with_pytorch").main(["--shape", *shape, "--repeats", "5"])
        self.assertGreater(ratio, 3 if ALL else 1)  # 4 on a machine that does nothing else
        self.assertLess(memory, 16)

    def test_data_sets_are_translated(self):
        if missing("datasets"):
            self.skipTest("no datasets")
        if not MAKER:
            self.skipTest("TESSERA_MODEL_MAKER names no program that makes models")
        import datasets

        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MAKER, f"{folder}/text", f"{folder}/images"], check=True)
            translator = tessera.Translator(f"{folder}/text")
            texts = ["a b c", "d", "z y x w"] * 5
            rows = datasets.Dataset.from_dict({"text": texts})
            translated = example("translate_dataset").translated(rows, translator, batch_size=4, steps=3)
            self.assertEqual(list(translated["translation"]), translator(texts, steps=3))

    def test_the_notebook_runs(self):
        if missing("matplotlib"):
            self.skipTest("no matplotlib")
        path = EXAMPLES / "method.ipynb"
        notebook = json.loads(path.read_text())
        self.assertLess(path.stat().st_size, 300_000)
        if missing("nbclient", "nbformat", "ipykernel"):
            import matplotlib

            matplotlib.use("agg")
            names = {}
            for cell in notebook["cells"]:
                if cell["cell_type"] == "code":
                    exec("".join(cell["source"]), names)
            return
        import nbclient
        import nbformat

        done = nbclient.NotebookClient(nbformat.read(path, as_version=4), timeout=300).execute()
        pictures = [
            output
            for cell in done.cells
            if cell.cell_type == "code"
            for output in cell.outputs
            if "image/png" in output.get("data", {})
        ]
        self.assertGreaterEqual(len(pictures), 4)


if __name__ == "__main__":
    unittest.main()
