"""Tensors cross the border as they are: no copies, gradients, torch.compile, other threads."""

import threading
import time
import unittest
import warnings

import tessera
import torch

K, D = 40, 8


def naive_exit_time(x0, eps, codes, labels):
    """As one would write it first, for the straight path: all scores, in float64."""
    x0, eps, codes = x0.double(), eps.double(), codes.double()
    own = labels.unsqueeze(-1)
    lead = x0 @ codes.T
    lead = lead.gather(-1, own) - lead
    push = eps @ codes.T
    push = push - push.gather(-1, own)
    ratio = torch.where(lead > 0, push / lead, -torch.inf).scatter(-1, own, -torch.inf).amax(-1)
    return torch.where(ratio > 0, 2000 / (1 + ratio), torch.inf)


class Problem(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.weight = torch.randn(K, D, requires_grad=True)
        self.table = tessera.EmbeddingTable(self.weight)
        self.codes = self.table.codes.detach()
        self.labels = torch.randint(K, (3, 5))
        self.x0 = self.codes[self.labels]
        self.eps = torch.randn(3, 5, D)
        self.process = tessera.Process(r=1.0)


class NoCopies(Problem):
    def test_a_view_comes_back_as_the_same_object(self):
        eps = torch.randn(D, 5, 3).permute(2, 1, 0)
        self.assertFalse(eps.is_contiguous())
        noised = self.process.noise(self.table, self.x0, self.labels, eps, torch.full((3,), 9.0))
        self.assertIs(noised.eps, eps)

    def test_an_array_shares_its_memory(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        eps = numpy.ones((3, 5, D), numpy.float32)
        noised = self.process.noise(self.table, self.x0, self.labels, eps, torch.full((3,), 9.0))
        eps[0, 0, 0] = 7
        self.assertEqual(noised.eps[0, 0, 0], 7)
        times = tessera.exit_time(self.x0.numpy(), eps, self.codes.numpy(), self.labels.numpy())
        self.assertEqual(times.time.shape, (3, 5))

    def test_the_weight_is_the_parameter(self):
        before = self.table.encode(self.labels)
        with torch.no_grad():
            self.weight.add_(torch.randn(K, D))
        self.assertTrue(torch.equal(before, self.table.encode(self.labels)))
        self.table.refresh()
        after = torch.nn.functional.layer_norm(self.weight, (D,), eps=0)[self.labels]
        torch.testing.assert_close(self.table.encode(self.labels), after)


class Gradients(Problem):
    def test_reach_the_weight(self):
        x0 = self.table.encode(self.labels)
        noised = self.process.noise(self.table, x0, self.labels, self.eps, torch.tensor([10.0, 700.0, 1900.0]))
        loss = tessera.objective(self.process, self.table, noised, 0.5 * noised.x, x0, self.labels)
        loss.total.backward()
        self.assertGreater(self.weight.grad.abs().sum(), 0)

    def test_are_right(self):
        weight = torch.randn(6, 4, dtype=torch.float64, requires_grad=True)
        labels = torch.randint(6, (2, 3))
        eps = torch.randn(2, 3, 4, dtype=torch.float64)
        t = torch.tensor([40.0, 1200.0], dtype=torch.float64)
        estimate = torch.randn(2, 3, 4, dtype=torch.float64, requires_grad=True)
        fixed = tessera.EmbeddingTable(weight.detach())
        exact = fixed.encode(labels).requires_grad_()
        # With r = 0 times do not depend on the points; else they count as constants.
        process = tessera.Process(r=0.0)

        def noised(x0):
            return process.noise(fixed, x0, labels, eps, t).x

        self.assertTrue(torch.autograd.gradcheck(noised, (exact,)))

        def loss(w, x0_hat):
            table = tessera.EmbeddingTable(w)
            x0 = table.encode(labels)
            state = process.noise(table, x0, labels, eps, t)
            return tessera.objective(process, table, state, x0_hat, x0, labels, label_smoothing=0.1).total

        self.assertTrue(torch.autograd.gradcheck(loss, (weight, estimate)))

    def test_stop_at_exit_times(self):
        x0 = self.table.encode(self.labels)
        self.assertTrue(x0.requires_grad)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = tessera.exit_time(x0, self.eps, self.table.codes, self.labels)
        self.assertFalse(found.time.requires_grad)


class Operators(Problem):
    def arguments(self):
        return (self.x0, self.eps, self.codes, self.labels)

    def test_find_exits(self):
        found = tessera.exit_time(*self.arguments())
        expected = naive_exit_time(*self.arguments())
        torch.testing.assert_close(found.time, expected.float(), rtol=1e-4, atol=1e-2)
        self.assertFalse(found.outside.any())
        decoded = tessera.decode_and_exit(self.x0, self.eps, self.codes)
        self.assertTrue(torch.equal(decoded.labels, self.labels))
        torch.testing.assert_close(decoded.exit.time, found.time)
        inward = tessera.stopping_time(self.x0, 3 * self.x0, self.codes, self.labels)
        self.assertTrue(inward.no_exit.all())
        self.assertTrue((inward.t0 == 2000).all())
        zero = tessera.stopping_time(self.x0, 3 * self.x0, self.codes, self.labels, horizon=50, no_exit="zero")
        self.assertTrue((zero.t0 == 0).all())

    def test_agree_with_the_codebook(self):
        trajectory = tessera.Trajectory("vp-sqrt", horizon=500)
        bias = torch.randn(K)
        table = tessera.EmbeddingTable(self.codes, normalise="none", undecodable=[0, 3], bias=bias)
        ours = table.stopping_time(trajectory, self.x0, self.eps, self.labels)
        theirs = tessera.stopping_time(
            *self.arguments(), "vp-sqrt", horizon=500, bias=bias, undecodable=[0, 3]
        )
        for name in ("t0", "outside", "no_exit"):
            self.assertTrue(torch.equal(getattr(ours, name), getattr(theirs, name)), name)

    def test_keep_the_rules_of_operators(self):
        x0 = self.x0.clone().requires_grad_()
        ops = torch.ops.tessera
        bias, undecodable = torch.randn(K), [0, 3]
        for op, arguments in (
            (ops.exit_time.default, self.arguments()),
            (ops.exit_time.default, (x0, self.eps, self.codes, self.labels, "vp-sqrt", 500, bias, undecodable)),
            (ops.decode_and_exit.default, (x0, self.eps, self.codes)),
            (ops.stopping_time.default, (x0, self.eps, self.codes, self.labels)),
        ):
            results = torch.library.opcheck(op, arguments)
            self.assertEqual(set(results.values()), {"SUCCESS"}, op)

    def test_compile_without_breaks(self):
        def halved(x0, eps, codes, labels):
            return 0.5 * tessera.stopping_time(x0, eps, codes, labels, "vp-sqrt").t0

        compiled = torch.compile(halved, fullgraph=True, backend="aot_eager")
        self.assertTrue(torch.equal(compiled(*self.arguments()), halved(*self.arguments())))


class OtherThreads(unittest.TestCase):
    def test_go_on_meanwhile(self):
        torch.manual_seed(1)
        codes = torch.randn(20000, 64)
        labels = torch.randint(20000, (4000,))
        x0, eps = codes[labels], torch.randn(4000, 64)
        counted, done = [], threading.Event()

        def count():
            while not done.is_set():
                counted.append(time.perf_counter())
                time.sleep(0.002)

        thread = threading.Thread(target=count)
        thread.start()
        begin = time.perf_counter()
        tessera.exit_time(x0, eps, codes, labels)
        end = time.perf_counter()
        done.set()
        thread.join()
        during = sum(begin < moment < end for moment in counted)
        self.assertGreater(during, 3, f"{end - begin:.3f} s")


class Leaks(Problem):
    def test_calls_leave_nothing(self):
        def resident():
            with open("/proc/self/statm") as file:
                return int(file.read().split()[1]) * 4096

        def work(calls):
            t = torch.full((3,), 9.0)
            for _ in range(calls):
                self.process.noise(self.table, self.x0, self.labels, self.eps, t)
                tessera.Process("ot", r=0.5)
                try:
                    tessera.Process(r=2)
                except tessera.UsageError:
                    pass

        work(500)
        before = resident()
        work(3000)
        self.assertLess(resident() - before, 4 << 20)


if __name__ == "__main__":
    unittest.main()
