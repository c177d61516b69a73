"""The server under test."""
import contextlib
import os
import select
import signal
import subprocess

PROGRAM = TEXT_MODEL = ""  # the program, and the folder of its model of texts, from "de" to "en"
OPEN = CLOSED = ""  # addresses: "http://127.0.0.1:8080"
TOKEN = ""  # that CLOSED wants


@contextlib.contextmanager
def running(program, text, images, *options):
    """A server on a free port; gives its address, and ends it as a service manager would."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("TESSERA_TOKEN", None)
    process = subprocess.Popen(
        [program, "serve", text, images, "--languages", "de:en", "--host", "127.0.0.1", "--port", "0", *options],
        stdout=subprocess.PIPE, text=True, env=environment)
    try:
        ready, _, _ = select.select([process.stdout], [], [], 120)
        address = process.stdout.readline().strip() if ready else ""
        if not address.startswith("http://"):
            raise RuntimeError(f"the server did not say its address but '{address}'")
        yield address
        process.send_signal(signal.SIGTERM)
        if process.wait(60) != 0:
            raise RuntimeError(f"the server ended with {process.returncode}")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        process.stdout.close()


def generated(text):
    """What `tessera generate` makes of a line."""
    return subprocess.run([PROGRAM, "generate", TEXT_MODEL], input=text + "\n", text=True, check=True,
                          capture_output=True).stdout.rstrip("\n")
