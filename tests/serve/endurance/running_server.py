"""A `tessera serve` of a tiny model with random weights, for tests that start, load and end it."""
import http.client
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time


class RunningServer:
    """Starts the program; ends it, whatever happens."""

    def __init__(self, program, model, *options):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [program, "--device", "cpu", "--threads", "1", "serve", str(model), "--port", "0",
             "--languages", "de:en", *options], stdout=subprocess.PIPE, stderr=self.log, text=True)
        address = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)\n", address)
        if not match:
            self.process.wait(60)
            raise RuntimeError(f"no address but {address!r}\n{self.said()}")
        self.port = int(match[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def metrics(self):
        """Samples without labels, by name."""
        connection = self.connection()
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {name: float(value) for name, value in re.findall(r"^(\w+) (\S+)$", text, re.M)}

    def end(self, limit=60):
        """Sends SIGTERM; returns the exit code and how long the server took."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(limit), time.monotonic() - begin


def tiny_model(maker, folder):
    """The folder of a model of text."""
    text, images = pathlib.Path(folder) / "letters", pathlib.Path(folder) / "pictures"
    subprocess.run([maker, str(text), str(images)], check=True)
    return text


def translation(text, stream=False, **options):
    return json.dumps({"q": text, "split": False, "stream": stream, **options})
