"""The package itself: how it is imported, forked, typed, and started as the program."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import tessera
import torch

PACKAGE = pathlib.Path(tessera.__file__).parent


def python(code, *arguments, path=None, **options):
    environment = dict(os.environ)
    if path:
        environment["PYTHONPATH"] = str(path)
    return subprocess.run(
        [sys.executable, *options.pop("flags", []), "-c", code, *map(str, arguments)],
        env=environment, capture_output=True, text=True, timeout=120, **options
    )  # fmt: skip


class Package(unittest.TestCase):
    def copied(self, folder):
        """The package without its program, to be changed."""
        shutil.copytree(PACKAGE, pathlib.Path(folder) / "tessera", ignore=shutil.ignore_patterns("bin", "recipes"))
        return pathlib.Path(folder) / "tessera"

    def test_says_when_torch_is_another(self):
        with tempfile.TemporaryDirectory() as folder:
            built = self.copied(folder) / "_built.py"
            built.write_text(re.sub('torch = ".*"', 'torch = "1.2.3"', built.read_text()))
            done = python("import tessera", path=folder)
        self.assertIn("built with torch 1.2.3, and this is torch " + torch.__version__, done.stderr)
        self.assertIn("ImportError", done.stderr)
        self.assertIn("pip install --force-reinstall --no-deps .", done.stderr)

    def test_says_when_torch_is_missing(self):
        with tempfile.TemporaryDirectory() as folder:
            self.copied(folder)
            # -S leaves the installed packages out.
            imported = python("import tessera", path=folder, flags=["-S"])
            started = python("import tessera.__main__", path=folder, flags=["-S"])
        wanted = f"ImportError: tessera needs torch {torch.__version__.split('+')[0]}: pip install torch"
        for done in (imported, started):
            self.assertEqual(done.returncode, 1)
            self.assertIn(wanted, done.stderr)

    def test_computes_in_a_forked_child(self):
        code = (
            "import os, torch, tessera\n"
            "codes = torch.randn(3000, 32); labels = torch.arange(3000)\n"
            "torch.set_num_threads(4)\n"
            "before = tessera.exit_time(codes, codes.flip(0), codes, labels).time\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    after = tessera.exit_time(codes, codes.flip(0), codes, labels).time\n"
            "    os._exit(0 if torch.allclose(before, after, atol=0.1) else 1)\n"
            "print(os.waitpid(child, 0)[1])\n"
        )
        self.assertEqual(python(code).stdout, "0\n")

    def test_is_the_program(self):
        done = subprocess.run([sys.executable, "-m", "tessera", "--version"], capture_output=True, text=True)
        self.assertIn(tessera.__version__, done.stdout)
        done = subprocess.run([sys.executable, "-m", "tessera", "nonsense"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)

    def test_exports_what_it_lists(self):
        for name in tessera.__all__:
            self.assertTrue(hasattr(tessera, name), name)
        public = {name for name in vars(tessera) if not name.startswith("_")}
        self.assertEqual(public - set(tessera.__all__), set())

    def test_hides_the_library(self):
        """Symbols of the library are not for other modules."""
        module = next(PACKAGE.glob("_tessera*.so"))
        if shutil.which("nm") is None:
            self.skipTest("no nm")
        names = subprocess.run(["nm", "-D", "--defined-only", "-C", module], capture_output=True, text=True).stdout
        self.assertIn("PyInit__tessera", names)
        self.assertEqual([line for line in names.splitlines() if "tessera::" in line and " T " in line], [])

    def test_has_stubs_of_what_there_is(self):
        if shutil.which("pybind11-stubgen", path=pathlib.Path(sys.executable).parent) is None:
            self.skipTest("no pybind11-stubgen")
        with tempfile.TemporaryDirectory() as folder:
            script = pathlib.Path(__file__).resolve().parents[1] / "write-stubs"
            subprocess.run([sys.executable, script, folder], check=True)
            written = (pathlib.Path(folder) / "_tessera.pyi").read_text()
        self.assertEqual((PACKAGE / "_tessera.pyi").read_text(), written, "renew it: python/write-stubs python/tessera")


if __name__ == "__main__":
    unittest.main()
