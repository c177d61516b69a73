"""check.py PROGRAM MODEL_MAKER [TEST...]: the server, as clients of other servers see it.

Starts the program with tiny models, once open and once with a token, and runs the tests of this folder against it.
The clients come from `make clients`; without them the tests are skipped (exit code 77).
"""
import os
import pathlib
import sys

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
PYTHON = HERE.parents[2] / ".venv-clients" / "bin" / "python3"

try:
    import deepl  # noqa: F401
    import libretranslatepy  # noqa: F401
    import openai  # noqa: F401
    import prometheus_client  # noqa: F401
    import requests  # noqa: F401
except ImportError as missing:
    if PYTHON.exists() and pathlib.Path(sys.prefix) != PYTHON.parents[1]:
        os.execv(PYTHON, [str(PYTHON), *sys.argv])
    print(f"skipped: {missing.name} is not installed; `make clients` installs it and runs these tests")
    sys.exit(77)

import subprocess  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

import server  # noqa: E402

TOKEN = "a token for tests"

if len(sys.argv) < 3:
    sys.exit(__doc__)
program, model_maker, *tests = sys.argv[1:]
with tempfile.TemporaryDirectory(prefix="tessera-clients-") as folder:
    text, images = f"{folder}/letters", f"{folder}/pictures"
    subprocess.run([model_maker, text, images], check=True)
    token_file = pathlib.Path(folder) / "token"
    token_file.write_text(TOKEN + "\n")
    with server.running(program, text, images) as open_server, \
            server.running(program, text, images, "--token-file", str(token_file)) as closed_server:
        server.PROGRAM, server.TEXT_MODEL = program, text
        server.OPEN, server.CLOSED, server.TOKEN = open_server, closed_server, TOKEN
        loader = unittest.defaultTestLoader
        suite = loader.loadTestsFromNames(tests) if tests else loader.discover(str(HERE), "test_*.py")
        good = unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful()
sys.exit(0 if good else 1)
