import unittest
import urllib.error

import requests
from libretranslatepy import LibreTranslateAPI

import server


class LibreTranslateClient(unittest.TestCase):
    """libretranslatepy, which sends forms."""

    def test_translates_as_the_program_does(self):
        client = LibreTranslateAPI(server.OPEN)
        self.assertEqual(client.translate("a b c d e", "de", "en"), server.generated("a b c d e"))

    def test_detects(self):
        self.assertEqual(LibreTranslateAPI(server.OPEN).detect("a b"), [{"confidence": 0.0, "language": "de"}])

    def test_lists_languages(self):
        languages = LibreTranslateAPI(server.OPEN).languages()
        self.assertEqual(languages, [{"code": "de", "name": "German", "targets": ["en"]},
                                     {"code": "en", "name": "English", "targets": []}])

    def test_needs_the_key(self):
        good = LibreTranslateAPI(server.CLOSED, server.TOKEN)
        self.assertIsInstance(good.translate("a", "de", "en"), str)
        self.assertEqual(len(good.languages()), 2)
        for key in (None, "wrong"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                LibreTranslateAPI(server.CLOSED, key).translate("a", "de", "en")
            self.assertEqual(refused.exception.code, 403)
            refused.exception.close()


class OfficialExpectations(unittest.TestCase):
    """What the tests of LibreTranslate itself expect."""

    def post(self, path, **arguments):
        return requests.post(server.OPEN + path, timeout=60, **arguments)

    def get(self, path):
        return requests.get(server.OPEN + path, timeout=60)

    def test_translate(self):
        reply = self.post("/translate", data={"q": "Hello", "source": "de", "target": "en", "format": "text"})
        self.assertEqual(reply.status_code, 200)
        self.assertIn("translatedText", reply.json())

    def test_translate_batch(self):
        reply = self.post("/translate", json={"q": ["Hello", "World"], "source": "de", "target": "en", "format": "text"})
        self.assertEqual(reply.status_code, 200)
        self.assertIsInstance(reply.json()["translatedText"], list)
        self.assertEqual(len(reply.json()["translatedText"]), 2)

    def test_unsupported_language(self):
        reply = self.post("/translate", data={"q": "Hello", "source": "de", "target": "zz", "format": "text"})
        self.assertEqual((reply.status_code, reply.json()), (400, {"error": "zz is not supported"}))

    def test_missing_parameter(self):
        reply = self.post("/translate", data={"source": "de", "target": "en", "format": "text"})
        self.assertEqual((reply.status_code, reply.json()), (400, {"error": "Invalid request: missing q parameter"}))

    def test_detect(self):
        reply = self.post("/detect", data={"q": "Hello"})
        self.assertEqual(reply.status_code, 200)
        self.assertEqual(set(reply.json()[0]), {"confidence", "language"})
        reply = self.post("/detect")
        self.assertEqual(reply.status_code, 400)
        self.assertIn("error", reply.json())

    def test_lists(self):
        for path in ("/languages", "/frontend/settings", "/health"):
            self.assertEqual(self.get(path).status_code, 200, path)
        self.assertEqual(self.get("/health").json(), {"status": "ok"})
        self.assertLessEqual({"code", "name"}, set(self.get("/languages").json()[0]))

    def test_methods(self):
        self.assertEqual(self.get("/detect").status_code, 405)
        self.assertEqual(self.post("/languages").status_code, 405)
        self.assertEqual(self.post("/health").status_code, 405)


class OddRequests(unittest.TestCase):
    """What else arrives at a public server."""

    def translate(self, **fields):
        body = {"source": "de", "target": "en", **fields}
        reply = requests.post(server.OPEN + "/translate", json=body, timeout=60)
        return reply.status_code, reply.json()

    def test_texts_without_letters_stay(self):
        for text in ("🙂", "12 + 3", " \n ", "\u200f", "…"):
            self.assertEqual(self.translate(q=text), (200, {"translatedText": text}), repr(text))
        self.assertEqual(self.translate(q=["", "🙂"]), (200, {"translatedText": ["", "🙂"]}))

    def test_any_text_is_taken(self):
        for text in ("שלום עולם", "مرحبا بالعالم", "a\x00b", "\ufeffa", "a" * 4000, "a. " * 1500, "\u202ea b\u202c",
                     "e\u0301", "<b", "&amp;", "\U0010ffff a"):
            for kind in ("text", "html"):
                status, reply = self.translate(q=text, format=kind)
                self.assertEqual(status, 200, (repr(text[:20]), reply))
                self.assertIsInstance(reply["translatedText"], str)

    def test_html_keeps_its_tags(self):
        status, reply = self.translate(q="<p>a b<br>c &amp; <i title='>'>d</p><script>e</script>", format="html")
        self.assertEqual(status, 200)
        self.assertRegex(reply["translatedText"], r"^<p>[^<]*<br>[^<]*<i title='>'>[^<]*</p><script>e</script>$")

    def test_posts_of_mastodon(self):
        posts = ["<p>a b <a href=\"https://example.org\" class=\"mention\">@<span>c</span></a></p>", "", "<p>d</p>"]
        status, reply = self.translate(q=posts, source="auto", format="html", api_key="any")
        self.assertEqual(status, 200)
        self.assertRegex(reply["translatedText"][0], "^<p>[^<]* <a href=\"https://example.org\" class=\"mention\">@<span>")
        self.assertEqual(reply["translatedText"][1], "")
        self.assertEqual([each["language"] for each in reply["detectedLanguage"]], ["de"] * 3)

    def test_wrong_bodies_are_refused(self):
        json = {"Content-Type": "application/json"}
        for body in (b"", b"{", b"[]", b"null", b"[" * 100000, b'{"q": "\xff"}', b'{"q": "\\ud800"}', b'{"q": 1e999}',
                     b'{"q": {"a": 1}, "source": "de", "target": "en"}'):
            reply = requests.post(server.OPEN + "/translate", data=body, headers=json, timeout=60)
            self.assertEqual(reply.status_code, 400, body[:20])
            self.assertIn("error", reply.json())

    def test_large_bodies_are_refused(self):
        try:
            reply = requests.post(server.OPEN + "/translate", json={"q": "a" * 10_000_000}, timeout=60)
        except requests.exceptions.ConnectionError:
            return  # the server stopped reading, and the client never saw why
        self.assertEqual(reply.status_code, 413)
        self.assertEqual(self.translate(q="a" * 6000),
                         (400, {"error": "Invalid request: request (6000) exceeds text limit (5000)"}))

    def test_multipart_and_query(self):
        fields = {"q": "a b", "source": "de", "target": "en"}
        expected = {"translatedText": server.generated("a b")}
        multipart = requests.post(server.OPEN + "/translate", files={name: (None, value) for name, value in fields.items()},
                                  timeout=60)
        self.assertEqual(multipart.json(), expected)
        self.assertEqual(requests.post(server.OPEN + "/translate", params=fields, timeout=60).json(), expected)
        large = requests.post(server.OPEN + "/translate", data={**fields, "q": "a ä\n" * 1200}, timeout=60)
        self.assertEqual(large.status_code, 200, "a form of more than 8 KB")

    def test_alternatives_are_distinct(self):
        status, reply = self.translate(q="a b c", alternatives=3)
        self.assertEqual(status, 200)
        texts = [reply["translatedText"], *reply["alternatives"]]
        self.assertEqual(len(texts), len(set(texts)))
        self.assertGreater(len(texts), 1)
