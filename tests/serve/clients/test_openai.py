import base64
import unittest

import openai

import server


def client(address, key="any"):
    return openai.OpenAI(base_url=address + "/v1", api_key=key, max_retries=0)


class OpenaiClient(unittest.TestCase):
    def test_lists_models(self):
        self.assertEqual({model.id for model in client(server.OPEN).models.list()}, {"letters", "pictures"})

    def test_makes_images(self):
        reply = client(server.OPEN).images.generate(model="pictures", prompt="cat", n=2, size="8x8",
                                                    response_format="b64_json")
        self.assertEqual(len(reply.data), 2)
        for image in reply.data:
            self.assertTrue(base64.b64decode(image.b64_json).startswith(b"\x89PNG\r\n\x1a\n"))

    def test_repeats_images_of_a_seed(self):
        images = client(server.OPEN).images

        def picture(**extra):
            return images.generate(prompt="dog", extra_body=extra).data[0].b64_json
        self.assertEqual(picture(seed=1), picture(seed=1))
        self.assertNotEqual(picture(), picture())

    def test_says_which_parameter_is_wrong(self):
        for wrong in ({"prompt": "bird"}, {"size": "1024x1024"}, {"response_format": "url"}, {"n": 100}):
            with self.assertRaises(openai.BadRequestError) as refused:
                client(server.OPEN).images.generate(**{"prompt": "cat", **wrong})
            self.assertEqual(refused.exception.param, next(iter(wrong)))
        with self.assertRaises(openai.NotFoundError) as refused:
            client(server.OPEN).images.generate(prompt="", model="gpt-image-1")
        self.assertEqual(refused.exception.code, "model_not_found")

    def test_needs_the_key(self):
        with self.assertRaises(openai.AuthenticationError):
            client(server.CLOSED, "wrong").images.generate(prompt="cat")
        self.assertTrue(client(server.CLOSED, server.TOKEN).images.generate(prompt="cat").data)
