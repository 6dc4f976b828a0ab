"""Cell numbers for each chunk of each buffer of each GPU."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_CELLS", "Bools", "Cells", "Ints"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_CELLS = 2**23
"""Chunks of all buffers of all GPUs, of all slices; more would take gigabytes."""


@dataclass(frozen=True, slots=True)
class Cells:
    """The cells of one slice.

    Parameters
    ----------
    base : ndarray (GPUs, 3)
        The first chunk of the input, output and scratch of each GPU.
    size : int
        Total number of chunks.
    inputs, outputs : int
        The chunks of each GPU's input and output.
    """

    base: Ints
    size: int
    inputs: int
    outputs: int
