import unittest

import deepl
import requests

import server


def client(address, key="any"):
    deepl.http_client.max_network_retries = 0
    return deepl.DeepLClient(key, server_url=address)


class DeeplClient(unittest.TestCase):
    def test_translates_as_the_program_does(self):
        result = client(server.OPEN).translate_text("a b c", source_lang="DE", target_lang="EN-GB")
        self.assertEqual(result.text, server.generated("a b c"))
        self.assertEqual(result.detected_source_lang, "DE")
        self.assertEqual(result.billed_characters, 5)

    def test_translates_lists(self):
        texts = ["a b", "🙂", "c d. E f"]
        results = client(server.OPEN).translate_text(texts, target_lang="EN-US")
        self.assertEqual([result.text for result in results][1], "🙂")
        self.assertEqual(len(results), 3)

    def test_has_options_for_tags_and_sentences(self):
        translate = client(server.OPEN).translate_text
        self.assertRegex(translate("<b>a</b>", target_lang="EN-GB", tag_handling="html").text, "^<b>[^<]*</b>$")
        self.assertEqual(translate("a b\nc", target_lang="EN-GB", split_sentences="0").text, server.generated("a b c"))
        with self.assertRaisesRegex(deepl.DeepLException, "tag_handling"):
            translate("<b>a</b>", target_lang="EN-GB", tag_handling="xml")

    def test_lists_languages(self):
        sources = client(server.OPEN).get_source_languages()
        self.assertEqual([(each.code, each.name) for each in sources], [("DE", "German")])
        targets = client(server.OPEN).get_target_languages()
        self.assertEqual([each.code for each in targets], ["EN-GB", "EN-US"])
        self.assertFalse(targets[0].supports_formality)

    def test_has_no_limit(self):
        self.assertFalse(client(server.OPEN).get_usage().any_limit_reached)

    def test_says_what_is_wrong(self):
        with self.assertRaisesRegex(deepl.DeepLException, "target_lang"):
            client(server.OPEN).translate_text("a", target_lang="FR")
        with self.assertRaises(deepl.AuthorizationException):
            client(server.CLOSED, "wrong").translate_text("a", target_lang="EN-GB")
        self.assertTrue(client(server.CLOSED, server.TOKEN).translate_text("a", target_lang="EN-GB"))

    def test_takes_forms(self):
        reply = requests.post(server.OPEN + "/v2/translate", timeout=60,
                              data=[("text", "a"), ("text", "b"), ("target_lang", "EN")])
        self.assertEqual([each["text"] for each in reply.json()["translations"]],
                         [server.generated("a"), server.generated("b")])
