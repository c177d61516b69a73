#!/usr/bin/env python3
"""Load for a while: memory and file descriptors must stay flat, and every answer be one that is expected.

usage: soak.py PROGRAM MODEL_MAKER SECONDS
"""
import collections
import http.client
import random
import socket
import sys
import tempfile
import threading
import time

from running_server import RunningServer, tiny_model, translation

EXPECTED = {200, 400, 404, 413, 429, 503}
MEBIBYTE = 1 << 20


class Client(threading.Thread):
    def __init__(self, server, until, number):
        super().__init__()
        self.server, self.until = server, until
        self.random = random.Random(number)
        self.seen = collections.Counter()

    def run(self):
        connection = self.server.connection()
        while time.monotonic() < self.until:
            kind = self.random.choice(["plain"] * 6 + ["many", "stream", "left", "bad", "large", "half", "nowhere"])
            if self.random.random() < 0.1:
                connection.close()
            try:
                getattr(self, kind)(connection)
            except (OSError, http.client.HTTPException) as error:
                self.seen[f"WRONG: {kind}: {type(error).__name__}"] += 1
                connection.close()

    def post(self, connection, body, path="/v1/translate"):
        connection.request("POST", path, body)
        answer = connection.getresponse()
        answer.read()
        name = "" if answer.status in EXPECTED else "WRONG: "
        self.seen[f"{name}{answer.status}"] += 1
        if answer.getheader("Connection") == "close":
            connection.close()

    def text(self):
        return " ".join(self.random.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(self.random.randint(1, 30)))

    def plain(self, connection):
        self.post(connection, translation(self.text(), candidates=self.random.randint(1, 4)))

    def many(self, connection):
        self.post(connection, translation([self.text() for _ in range(10)]))

    def stream(self, connection):
        self.post(connection, translation(self.text(), stream=True))

    def left(self, _):
        """A stream whose client leaves in its middle."""
        body = translation(self.text(), stream=True, steps=50)
        with socket.create_connection(("127.0.0.1", self.server.port), 60) as connection:
            connection.sendall(f"POST /v1/translate HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            connection.recv(100)
        self.seen["left"] += 1

    def bad(self, connection):
        self.post(connection, self.random.choice(["{", "[" * 1000, '{"q":7}', '{"q":"a","steps":-1}', "\xff"]))

    def large(self, connection):
        self.post(connection, '{"q":"' + "a" * 1_200_000 + '"}')

    def half(self, _):
        with socket.create_connection(("127.0.0.1", self.server.port), 60) as connection:
            connection.sendall(b"POST /v1/translate HTTP/1.1\r\nContent-Length: 100\r\n\r\n{")
        self.seen["half"] += 1

    def nowhere(self, connection):
        self.post(connection, "{}", f"/nowhere/{self.random.random()}")


def main(program, maker, seconds):
    with tempfile.TemporaryDirectory() as folder, \
            RunningServer(program, tiny_model(maker, folder), "--queue", "16") as server:
        until = time.monotonic() + seconds
        clients = [Client(server, until, number) for number in range(8)]
        for client in clients:
            client.start()
        memory = []  # of the second half: the first one fills caches
        while time.monotonic() < until:
            time.sleep(seconds / 40)
            if until - time.monotonic() < seconds / 2:
                memory.append(server.metrics()["process_resident_memory_bytes"])
        for client in clients:
            client.join(120)
        time.sleep(1)  # streams whose clients left are noticed within a quarter of a second
        end = server.metrics()
        seen = sum((client.seen for client in clients), collections.Counter())
        growth = max(memory[-3:]) - max(memory[:3])
        code, _ = server.end()
    print(f"{seconds} s: {dict(sorted(seen.items()))}; memory {memory[0] / MEBIBYTE:.0f} -> {memory[-1] / MEBIBYTE:.0f} "
          f"MiB, descriptors {end['process_open_fds']:.0f}, streams {end['tessera_streams']:.0f}, code {code}")
    problems = [outcome for outcome in seen if outcome.startswith("WRONG")]
    if growth > max(8 * MEBIBYTE, 0.02 * memory[0]):
        problems.append(f"memory grew by {growth / MEBIBYTE:.1f} MiB")
    if end["tessera_streams"] != 0 or end["tessera_queue_texts"] != 0 or end["process_open_fds"] > 60:
        problems.append("something was not given back")
    if code != 0:
        problems.append(f"exit code {code}")
    if seen["200"] < seconds:
        problems.append("hardly anything was answered")
    for problem in problems:
        print("problem:", problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
