#!/usr/bin/env python3
"""SIGTERM under load: nothing that the server has begun may be lost, and it must end with 0.

usage: drain.py PROGRAM MODEL_MAKER ROUNDS

A request is lost if its answer breaks off, if a stream ends without its result, or if the connection breaks while
nobody has asked the server to end. After SIGTERM a connection that is refused, or closed before the first byte of an
answer, was not accepted.
"""
import collections
import http.client
import random
import sys
import tempfile
import threading
import time

from running_server import RunningServer, tiny_model, translation


class Client(threading.Thread):
    """Asks one request after the other until the server has gone."""

    def __init__(self, server, ended, number, keeps):
        super().__init__()
        self.server, self.ended, self.keeps = server, ended, keeps
        self.random = random.Random(number)
        self.seen = collections.Counter()

    def run(self):
        connection = None
        while True:
            if connection is None or not self.keeps:
                connection = self.server.connection()
            outcome = self.ask(connection)
            self.seen[outcome] += 1
            if outcome in ("closed", "closed late"):
                connection = None
                if self.ended.is_set() and self.server.process.poll() is not None:
                    return

    def ask(self, connection):
        stream = self.random.random() < 0.4
        asked_late = self.ended.is_set()
        try:
            connection.request("POST", "/v1/translate", translation(
                "a b c d", stream=stream, steps=self.random.choice([2, 10, 40]), candidates=4))
            answer = connection.getresponse()
        except (OSError, http.client.HTTPException):
            # A kept connection may be closed by the server's end while the request is on its way.
            return "closed late" if asked_late or self.ended.is_set() else "LOST: connection"
        try:
            body = answer.read()
        except (OSError, http.client.HTTPException):
            return "LOST: half an answer"
        if answer.status in (429, 503):
            return f"refused {answer.status}"
        if answer.status != 200:
            return f"LOST: status {answer.status}"
        if stream and b"event: result" not in body:
            return "LOST: a stream without a result"
        if answer.getheader("Connection") == "close":
            connection.close()
        return "answered"


def one_round(program, model, number):
    ended = threading.Event()
    with RunningServer(program, model, "--queue", "8") as server:
        clients = [Client(server, ended, 100 * number + k, keeps=k % 2 == 0) for k in range(8)]
        for client in clients:
            client.start()
        time.sleep(random.Random(number).uniform(0.2, 1.0))
        ended.set()
        code, took = server.end()
        for client in clients:
            client.join(60)
        seen = sum((client.seen for client in clients), collections.Counter())
        if code != 0:
            seen[f"LOST: exit code {code}"] += 1
            print(server.said(), file=sys.stderr)
        if any(client.is_alive() for client in clients):
            seen["LOST: a client hangs"] += 1
        return seen, took


def main(program, maker, rounds):
    total, longest = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        model = tiny_model(maker, folder)
        for number in range(rounds):
            seen, took = one_round(program, model, number)
            total += seen
            longest = max(longest, took)
    print(f"{rounds} SIGTERMs, the longest drain {longest:.2f} s:", dict(sorted(total.items())))
    lost = [outcome for outcome in total if outcome.startswith("LOST")]
    return 1 if lost or total["answered"] < rounds else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
