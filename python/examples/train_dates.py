"""Trains a network of PyTorch's own layers with Tessera's process: dates in many spellings to ISO dates.

    python train_dates.py                 # about a minute on one core
    python train_dates.py --updates 300   # a glimpse

`tessera` brings the codes, the forward process, the loss and the sampler; the network, the optimiser and the loop are
plain PyTorch. The last line says how many dates that were not in training are right.
"""

import argparse
import time

import tessera
import torch
from torch import nn

LENGTH = len("1987-03-03")
DIM = 32  # of the codes


class Alphabet:
    """Characters and their numbers; 0 is padding."""

    def __init__(self, texts):
        self.characters = sorted(set("".join(texts)))
        self.numbers = {character: k + 1 for k, character in enumerate(self.characters)}

    def __len__(self):
        return len(self.characters) + 1

    def encode(self, texts):
        rows = [torch.tensor([self.numbers[character] for character in text]) for text in texts]
        return nn.utils.rnn.pad_sequence(rows, batch_first=True)

    def decode(self, labels):
        return ["".join(self.characters[k - 1] for k in row) for row in labels.tolist()]


class Network(nn.Module):
    """Estimates the codes x0 of a date from noisy points, their time and the spelling."""

    def __init__(self, symbols, width=96, heads=4, hidden=192):
        super().__init__()
        part = {"d_model": width, "nhead": heads, "dim_feedforward": hidden, "dropout": 0.0, "activation": "gelu",
                "batch_first": True, "norm_first": True}  # fmt: skip
        self.symbols = nn.Embedding(symbols, width, padding_idx=0)
        self.source_places = nn.Parameter(torch.randn(64, width))
        self.target_places = nn.Parameter(torch.randn(LENGTH, width))
        self.neighbours = nn.Sequential(  # parts of words
            nn.Conv1d(width, width, 5, padding=2), nn.GELU(), nn.Conv1d(width, width, 5, padding=2)
        )
        self.encoder = nn.TransformerEncoderLayer(**part)
        self.read = nn.Linear(DIM, width)
        self.time = nn.Sequential(nn.Linear(32, width), nn.GELU(), nn.Linear(width, width))
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**part), 2)
        self.write = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, DIM))

    def encode(self, source):
        padding = source == 0
        read = self.symbols(source)
        read = read + self.neighbours(read.transpose(1, 2)).transpose(1, 2) + self.source_places[: source.shape[1]]
        return self.encoder(read, src_key_padding_mask=padding), padding

    def forward(self, x, t, memory, padding):
        angles = t[:, None] * torch.logspace(0, -3, 16)
        told = self.time(torch.cat([angles.sin(), angles.cos()], dim=-1))
        hidden = self.read(x) + self.target_places + told[:, None]
        return self.write(self.decoder(hidden, memory, memory_key_padding_mask=padding))


def train(network, table, weight, process, batches, updates, rate=3e-3, warmup=100):
    optimizer = torch.optim.AdamW([*network.parameters(), weight], lr=rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda k: min((k + 1) / warmup, 1 - k / updates)
    )
    begin = time.time()
    losses = []
    for update in range(updates):
        source, labels = next(batches)
        samples = torch.arange(len(labels))
        t = process.draw_time(1, update, samples)
        eps = process.draw_noise(1, update, samples, (LENGTH, DIM))

        # Algorithm 1: codes of the symbols, points on the rescaled paths, the network's estimate, its loss.
        x0 = table.encode(labels)
        noised = process.noise(table, x0, labels, eps, t)
        x0_hat = network(noised.x, tessera.network_time(t, process.horizon), *network.encode(source))
        loss = tessera.objective(process, table, noised, x0_hat, x0, labels)

        optimizer.zero_grad()
        loss.total.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        table.refresh()  # the codes have changed
        losses.append(loss.total.item())
        if (update + 1) % 100 == 0:
            print(f"update {update + 1}: loss {losses[-1]:.4f}, {time.time() - begin:.0f} s", flush=True)
    return losses


@torch.no_grad()
def write(network, table, process, source, steps):
    """Algorithm 2: labels out of noise."""
    memory, padding = network.encode(source)

    def denoiser(x, t, previous):
        return network(x, tessera.network_time(t, process.horizon), memory, padding)

    sampler = tessera.Sampler(process, table, denoiser, steps=steps)
    return sampler.run(len(source), (LENGTH, DIM)).labels


def shuffled(source, labels, size):
    """Batches without end, of spellings of about the same length, each padded to its longest one."""
    lengths = (source != 0).sum(dim=1)
    while True:
        for part in torch.randperm(len(source)).split(20 * size):
            batches = part[lengths[part].argsort()].split(size)
            for place in torch.randperm(len(batches)):
                rows = batches[place]
                yield source[rows, : int(lengths[rows].max())], labels[rows]


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--updates", type=int, default=1200)
    parser.add_argument("--batch", type=int, default=48)
    parser.add_argument("--steps", type=int, default=10, help="of sampling")
    parser.add_argument("--tests", type=int, default=1000, help="dates to test on")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    torch.manual_seed(given.seed)

    data = tessera.date_pairs(seed=given.seed, pairs=40000)
    spellings, dates = zip(*data["train"])
    source_alphabet, target_alphabet = Alphabet(spellings), Alphabet(dates)

    weight = nn.Parameter(torch.randn(len(target_alphabet), DIM))
    table = tessera.EmbeddingTable(weight, undecodable=[0])  # nothing decodes to padding
    process = tessera.Process(r=1.0)
    network = Network(len(source_alphabet))
    batches = shuffled(source_alphabet.encode(spellings), target_alphabet.encode(dates), given.batch)
    losses = train(network, table, weight, process, batches, given.updates)

    network.eval()
    spellings, dates = zip(*data["test"][: given.tests])
    labels = write(network, table, process, source_alphabet.encode(spellings), given.steps)
    written = target_alphabet.decode(labels)
    for spelling, found in list(zip(spellings, written))[:3]:
        print(f"{spelling} -> {found}")
    exact = sum(a == b for a, b in zip(written, dates)) / len(dates)
    print(f"{100 * exact:.1f} % of {len(dates)} dates are right")
    return exact, losses


if __name__ == "__main__":
    main()
