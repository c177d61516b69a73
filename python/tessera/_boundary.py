"""Stopping times as functions of tensors alone, which torch.compile takes as they are."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Union

import torch

from . import _tessera as _tessera  # registers torch.ops.tessera

if TYPE_CHECKING:
    import numpy

Array = Union[torch.Tensor, "numpy.ndarray"]


class Exit(NamedTuple):
    """When paths leave the cells they start in."""

    time: torch.Tensor  # [...] of the first exit; infinite where there is none
    outside: torch.Tensor  # [...] bool: x0 was outside; the time is 0


class DecodedExit(NamedTuple):
    labels: torch.Tensor  # [...] int64: what x0 decodes to
    exit: Exit


class StoppingTime(NamedTuple):
    t0: torch.Tensor  # [...] in [0, horizon]
    outside: torch.Tensor  # [...] bool: x0 was outside; t0 is 0
    no_exit: torch.Tensor  # [...] bool: the path never leaves


def exit_time(
    x0: Array,
    eps: Array,
    codes: Array,
    labels: Array,
    trajectory: str = "ot",
    *,
    horizon: int = 2000,
    bias: Array | None = None,
    undecodable: Sequence[int] = (),
) -> Exit:
    """First exit of the paths u * x0 + v * eps from the cells of their labels.

    A point is in the cell of the code with the largest x . code + bias. Without gradients; memory does not depend on
    the number of codes.

        x0, eps [..., d], labels [...] int64, codes [K, d], bias [K]
        undecodable  symbols that no point decodes to
    """
    return Exit(*torch.ops.tessera.exit_time(*_tensors(x0, eps, codes, labels), trajectory, horizon, _bias(bias), undecodable))


def decode_and_exit(
    x0: Array,
    eps: Array,
    codes: Array,
    trajectory: str = "ot",
    *,
    horizon: int = 2000,
    bias: Array | None = None,
    undecodable: Sequence[int] = (),
) -> DecodedExit:
    """What x0 decodes to, and the exit from that cell: with one set of scores for both."""
    labels, *found = torch.ops.tessera.decode_and_exit(
        *_tensors(x0, eps, codes), trajectory, horizon, _bias(bias), undecodable
    )
    return DecodedExit(labels, Exit(*found))


def stopping_time(
    x0: Array,
    eps: Array,
    codes: Array,
    labels: Array,
    trajectory: str = "ot",
    *,
    horizon: int = 2000,
    no_exit: str = "full",
    bias: Array | None = None,
    undecodable: Sequence[int] = (),
) -> StoppingTime:
    """The exit, with a finite time for paths that never leave: "full" is the horizon, "zero" is 0."""
    return StoppingTime(
        *torch.ops.tessera.stopping_time(
            *_tensors(x0, eps, codes, labels), trajectory, horizon, no_exit, _bias(bias), undecodable
        )
    )


def _tensors(*arrays: Array) -> list[torch.Tensor]:
    return [torch.as_tensor(array) for array in arrays]


def _bias(bias: Array | None) -> torch.Tensor | None:
    return None if bias is None else torch.as_tensor(bias)
