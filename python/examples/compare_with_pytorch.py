"""Stopping times with Tessera, and as one would write them first in PyTorch: time, extra memory and error.

    python compare_with_pytorch.py                       # 8,000 elements, 10,000 codes in 128 dimensions
    python compare_with_pytorch.py --shape 2000 3000 64

Both run in turn; the times are medians.
"""

import argparse
import math
import statistics
import time

import tessera
import torch

HORIZON = 2000


def naive(x0, eps, codes, labels):
    """Every score of every element is stored."""
    own = labels.unsqueeze(-1)
    lead = x0 @ codes.T
    lead = lead.gather(-1, own) - lead
    push = eps @ codes.T
    push = push - push.gather(-1, own)
    ratio = torch.where(lead > 0, push / lead, -math.inf).scatter(-1, own, -math.inf).amax(-1)
    return torch.where(ratio > 0, HORIZON / (1 + ratio), HORIZON)


def ours(x0, eps, codes, labels):
    return tessera.stopping_time(x0, eps, codes, labels, "ot", horizon=HORIZON).t0


def status(key):
    """A value of this process, in MiB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key + ":"))


def extra_memory(work, arguments):
    """MiB that the work needs at its peak beyond what was there. Linux keeps the peak."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # forgets the former peak
    before = status("VmRSS")
    work(*arguments)
    return status("VmHWM") - before


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shape", type=int, nargs=3, default=[8000, 10000, 128], metavar=("N", "K", "D"))
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args(arguments)
    elements, symbols, dim = given.shape

    torch.manual_seed(1)
    codes = torch.nn.functional.normalize(torch.randn(symbols, dim)) * math.sqrt(dim)
    labels = torch.randint(symbols, (elements,))
    x0, eps = codes[labels], torch.randn(elements, dim)
    problem = (x0, eps, codes, labels)

    ways = {"naive PyTorch": naive, "tessera": ours}
    for way in ways.values():  # first calls set things up
        way(x0[:64], eps[:64], codes, labels[:64])
    memory = {name: extra_memory(way, problem) for name, way in ways.items()}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(given.repeats):
        for name, way in ways.items():
            begin = time.perf_counter()
            way(*problem)
            seconds[name].append(time.perf_counter() - begin)
    exact = naive(x0.double(), eps.double(), codes.double(), labels)

    medians = {name: statistics.median(each) for name, each in seconds.items()}
    print(f"{elements} elements, {symbols} codes, {dim} dimensions, {torch.get_num_threads()} threads")
    print(f"{'':15} {'time':>10} {'ratio':>7} {'extra memory':>13} {'error':>14}")
    for name, way in ways.items():
        error = (way(*problem) - exact).abs().quantile(0.999).item()
        print(
            f"{name:15} {1e3 * medians[name]:7.1f} ms {medians['naive PyTorch'] / medians[name]:6.2f}x "
            f"{memory[name]:9.1f} MiB {error:8.4f} steps"
        )
    return medians["naive PyTorch"] / medians["tessera"], memory["tessera"]


if __name__ == "__main__":
    main()
