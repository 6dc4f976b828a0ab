"""Importer of the NVLinks that ``nvidia-smi nvlink --status`` lists.

Problem: which links of each GPU are up, and their rates; not where they lead to.
Input:   ``GPU 0: NVIDIA H100 80GB HBM3 (UUID: ...)``, then ``Link 0: 26.562 GB/s`` or
         ``Link 1: <inactive>`` for each link.
Output:  a :class:`NvidiaLinks`, which :mod:`nvidia_machine` joins with the matrix of the machine.
Cost:    linear in lines.
Source:  the tool's output. Its rate is that of the line, 6 per cent above the data sheet's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.errors import InvalidTopologyError
from forestcoll.topology.importers.machines.gpu_models import kind_of_model
from forestcoll.topology.importers.text_lines import Line, text_lines

__all__ = ["NvidiaLinks", "nvidia_links"]

_MOST_GPUS = 600
_MOST_LINKS = 72
_GPU = re.compile(r"GPU ([0-9]{1,4}): (.{0,200}?)(?: \(UUID: [^)]{0,99}\))?")
_LINK = re.compile(r"\s*Link ([0-9]{1,3}): (?:([0-9]{1,6}(?:\.[0-9]{1,6})?) GB/s|<inactive>)")


@dataclass(frozen=True, slots=True)
class NvidiaLinks:
    """The links of each GPU that are up.

    Parameters
    ----------
    machine, source : str
        The name of the machine, and the file for errors.
    kind : str or None
        Of the GPUs, such as ``sm_90``; None if the model is unknown.
    rates_gb_s : mapping
        By the name of the GPU, ``gpu0``: the rate of each link that is up.
    notes : tuple of str
    """

    machine: str
    source: str
    kind: str | None
    rates_gb_s: dict[str, tuple[Fraction, ...]]
    notes: tuple[str, ...]


def nvidia_links(text: str, source: str, machine: str) -> NvidiaLinks:
    """Read the output of ``nvidia-smi nvlink --status``.

    Raises
    ------
    InvalidTopologyError
        If a line is neither a GPU nor a link, or there is one twice.
    """
    rates: dict[str, dict[int, Fraction]] = {}
    models: dict[str, str] = {}
    name = ""
    for line in text_lines(text, source):
        if gpu := _GPU.fullmatch(line.text):
            name = f"gpu{int(gpu[1])}"
            if name in rates or len(rates) >= _MOST_GPUS:
                raise line.fault(f"{name} is listed twice, or is one of over {_MOST_GPUS} GPUs")
            rates[name], models[name] = {}, gpu[2]
        elif link := _LINK.fullmatch(line.text):
            _add(line, rates.get(name), int(link[1]), Fraction(link[2] or 0))
        elif "NVML" not in line.text:
            raise line.fault(
                f"{line.shown()} is neither a GPU nor a link with its GB/s; write the file with "
                f"nvidia-smi nvlink --status"
            )
    if not rates:
        raise InvalidTopologyError(f"{source}: lists no GPU; write nvidia-smi nvlink --status")
    kinds = {kind_of_model(model) for model in models.values()}
    up = {gpu: tuple(rate for rate in links.values() if rate) for gpu, links in rates.items()}
    return NvidiaLinks(
        machine, source, kinds.pop() if len(kinds) == 1 else None, up, _notes(rates, up)
    )


def _add(line: Line, links: dict[int, Fraction] | None, number: int, rate: Fraction) -> None:
    if links is None or number in links or len(links) >= _MOST_LINKS:
        raise line.fault(f"link {number} is listed twice or before any GPU; write the file again")
    links[number] = rate


def _notes(
    links: dict[str, dict[int, Fraction]], up: dict[str, tuple[Fraction, ...]]
) -> tuple[str, ...]:
    down = [
        f"{gpu} {len(links[gpu]) - len(up[gpu])}" for gpu in links if len(links[gpu]) > len(up[gpu])
    ]
    return (f"NVLinks that are down: {', '.join(down)}.",) if down else ()
