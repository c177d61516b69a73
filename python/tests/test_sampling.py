"""The sampler with networks written in Python."""

import gc
import unittest
import weakref

import tessera
import torch


class Sampling(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.table = tessera.EmbeddingTable(torch.randn(30, 16))
        self.wanted = torch.randint(30, (4, 6))
        self.process = tessera.Process(r=1.0)

    def oracle(self, x, t, previous):
        return self.table.encode(self.wanted[: len(x)])

    def test_finds_what_the_network_says(self):
        sampler = tessera.Sampler(self.process, self.table, self.oracle, steps=8)
        sample = sampler.run(4, (6, 16))
        self.assertTrue(torch.equal(sample.labels, self.wanted))
        self.assertEqual((sample.calls, sampler.calls), (8, 8))
        self.assertEqual(len(sampler.times), 9)

    def test_shows_every_step(self):
        seen = []
        sampler = tessera.Sampler(self.process, self.table, self.oracle, steps=5)
        sampler.run(4, (6, 16), seen.append)
        self.assertEqual([step.index for step in seen], list(range(5)))
        self.assertEqual(seen[0].t, 2000)
        self.assertEqual(seen[0].x.shape, (4, 6, 16))
        self.assertEqual(seen[0].tau.shape, (4, 6))
        stopped = sampler.run(4, (6, 16), lambda step: step.index < 2)
        self.assertEqual(stopped.calls, 3)

    def test_is_a_function_of_seed_and_sample(self):
        def shrink(x, t, previous):
            return 0.9 * x

        # Without the boundary: on a border, rounding decides, and that depends on the batch.
        first = tessera.Sampler(tessera.Process(r=0.0), self.table, shrink, steps=4, seed=7)
        same = first.run(torch.tensor([2]), (6, 16)).labels
        self.assertTrue(torch.equal(first.run(4, (6, 16)).labels[2:3], same))
        seeds = torch.tensor([7, 8])
        both = tessera.Sampler(tessera.Process(r=0.0), self.table, shrink, steps=4).run(
            torch.tensor([2, 2]), (6, 16), seeds=seeds
        )
        self.assertTrue(torch.equal(both.labels[:1], same))
        self.assertFalse(torch.equal(both.labels[1:], same))

    def test_starts_from_given_noise(self):
        sampler = tessera.Sampler(self.process, self.table, self.oracle, steps=3)
        self.assertTrue(torch.equal(sampler.run_from(torch.randn(4, 6, 16)).labels, self.wanted))

    def test_keeps_its_codebook_alive(self):
        sampler = tessera.Sampler(
            self.process, tessera.EmbeddingTable(torch.eye(16)), lambda x, t, previous: x, steps=2
        )
        gc.collect()
        self.assertEqual(sampler.run(1, (3, 16)).labels.shape, (1, 3))

    def test_frees_its_network(self):
        network = torch.nn.Linear(16, 16)
        sampler = tessera.Sampler(self.process, self.table, lambda x, t, previous: network(x), steps=2)
        self.assertFalse(sampler.run(1, (3, 16)).x0.requires_grad)
        gone = weakref.ref(network)
        del network, sampler
        gc.collect()
        self.assertIsNone(gone())

    def test_draws_from_streams(self):
        samples = torch.arange(5)
        first = self.process.draw_noise(3, 4, samples, (2, 16))
        self.assertEqual((first.shape, first.dtype), ((5, 2, 16), torch.float32))
        self.assertTrue(torch.equal(first[3:4], self.process.draw_noise(3, 4, torch.tensor([3]), [2, 16])))
        times = self.process.draw_time(3, 4, torch.arange(1000))
        self.assertTrue(((times >= 1) & (times <= 2000) & (times == times.round())).all())


if __name__ == "__main__":
    unittest.main()
