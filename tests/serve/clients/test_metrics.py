import unittest

import requests
from prometheus_client.parser import text_string_to_metric_families

import server


def metrics(address, **arguments):
    reply = requests.get(address + "/metrics", timeout=60, **arguments)
    reply.raise_for_status()
    return {family.name: family for family in text_string_to_metric_families(reply.text)}


def requests_to(families, route):
    return {sample.labels["code"]: sample.value for sample in families["tessera_http_requests"].samples
            if sample.labels.get("route") == route}


class Metrics(unittest.TestCase):
    def test_can_be_parsed_and_count(self):
        before = requests_to(metrics(server.OPEN), "/translate")
        body = {"q": "a", "source": "de", "target": "en"}
        requests.post(server.OPEN + "/translate", json=body, timeout=60)
        requests.post(server.OPEN + "/translate", json={}, timeout=60)
        families = metrics(server.OPEN)
        after = requests_to(families, "/translate")
        for code in ("200", "400"):
            self.assertEqual(after[code], before.get(code, 0) + 1)
        self.assertEqual(families["tessera_http_request_seconds"].type, "histogram")
        for family in families.values():
            self.assertTrue(family.documentation, family.name)

    def test_histograms_are_cumulative(self):
        for family in metrics(server.OPEN).values():
            rows = {}
            for sample in family.samples:
                if sample.name.endswith("_bucket"):
                    labels = tuple(sorted((k, v) for k, v in sample.labels.items() if k != "le"))
                    rows.setdefault(labels, []).append((float(sample.labels["le"]), sample.value))
            for row in rows.values():
                counts = [count for _, count in sorted(row)]
                self.assertEqual(counts, sorted(counts), family.name)
                self.assertEqual(sorted(row)[-1][0], float("inf"))

    def test_need_the_token(self):
        self.assertIn(requests.get(server.CLOSED + "/metrics", timeout=60).status_code, (401, 403))
        self.assertTrue(metrics(server.CLOSED, headers={"Authorization": "Bearer " + server.TOKEN}))
