"""Boundary-conditional diffusion of discrete data: the library of the program `tessera`.

    translator = tessera.Translator("runs/m30k")            # a trained model: text in, text out
    process = tessera.Process(r=1.0)                        # the method, for a network of your own
    noised = process.noise(table, x0, labels, eps, t)

docs/python.md has the whole interface. `python -m tessera` is the program.
"""

import os as _os

from . import _built

try:
    import torch as _torch
except ImportError as error:
    raise ImportError(f"tessera needs torch {_built.torch}: pip install torch=={_built.torch}") from error

if _torch.__version__.split(".")[:2] != _built.torch.split(".")[:2]:
    raise ImportError(
        f"tessera was built with torch {_built.torch}, and this is torch {_torch.__version__}. Build it again: "
        "pip install --force-reinstall --no-deps . in its sources"
    )

from ._boundary import DecodedExit, Exit, StoppingTime, decode_and_exit, exit_time, stopping_time
from ._tessera import (
    Bits,
    Codebook,
    Corpus,
    EmbeddingTable,
    Error,
    ImageSampler,
    Loss,
    Noised,
    Process,
    Sample,
    Sampler,
    SampleStep,
    Score,
    Split,
    Tokenizer,
    Trajectory,
    Translation,
    TranslationStep,
    Translator,
    UsageError,
    __version__,
    bleu,
    chrf,
    date_pairs,
    network_time,
    objective,
    raise_deferred_errors,
    rouge,
)

# A process that has computed with several threads leaves OpenMP's memory of them to its children, who have none of
# these threads and would wait for them.
_os.register_at_fork(after_in_child=lambda: _torch.set_num_threads(1))

__all__ = [
    "Bits",
    "Codebook",
    "Corpus",
    "DecodedExit",
    "EmbeddingTable",
    "Error",
    "Exit",
    "ImageSampler",
    "Loss",
    "Noised",
    "Process",
    "Sample",
    "SampleStep",
    "Sampler",
    "Score",
    "Split",
    "StoppingTime",
    "Tokenizer",
    "Trajectory",
    "Translation",
    "TranslationStep",
    "Translator",
    "UsageError",
    "__version__",
    "bleu",
    "chrf",
    "date_pairs",
    "decode_and_exit",
    "exit_time",
    "network_time",
    "objective",
    "raise_deferred_errors",
    "rouge",
    "stopping_time",
]
