"""Printed leads of ForestColl over other libraries, under many settings of the simulator.

Problem: which settings, if any, give a lead that was measured.
Input:   the ratios at 1 GB of ``published/speedups.csv`` on two DGX A100 and 16 DGX H100.
Output:  the least and the largest simulated lead, the setting that comes nearest to the print.
Cost:    a simulation of each method for each setting, some minutes in all.

Each setting starts from the fitted ones and changes one number to one end of what is plausible. The
best schedule of a library counts, as in the papers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from statistics import median

from experiments.published import printed
from experiments.simulation_fit.curves import simulators
from experiments.simulation_fit.measurements import Curve
from experiments.simulation_fit.settings import Settings
from forestcoll.schedule.simulate import UNLIMITED, Priority, Simulator

__all__ = ["EXPLAINED", "Lead", "Variant", "leads", "variants"]

EXPLAINED = 0.05
"""Relative distance from the print up to which a setting explains a lead."""

_WHOLE = 2**50  # bytes: no transfer is cut
_ITEMS = ("EF9", "EF10")  # figures 11 and 12 (a) of the ForestColl paper
_OURS = ("forestcoll", "forestcoll:k=1", "forestcoll:multicast=true")
_PARAMETERS = {"taccl": ("taccl:sketch=dgx-uc-max,chunks=1", "taccl:sketch=dgx-uc-max,chunks=2")}
_SLOWER_NVLINK = {
    "dgx_a100:boxes=2": "dgx_a100:boxes=2,nvswitch_bandwidth=240",
    "dgx_h100:boxes=16": "dgx_h100:boxes=16,nvswitch_bandwidth=360",
}
"""NVLink at four fifths of the data sheet, as NCCL counts it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """Settings of ForestColl and of the others, and whether NVLink is slower."""

    name: str
    ours: Settings
    others: Settings
    slower_nvlink: bool = False


@dataclass(frozen=True, slots=True)
class Lead:
    """A printed lead, and what simulations say.

    Parameters
    ----------
    methods : tuple of str
        The methods it is over, of which the best counts.
    printed : float
    found : mapping
        The simulated lead by the name of the variant.
    """

    topology: str
    collective: str
    methods: tuple[str, ...]
    size_bytes: int
    printed: float
    found: Mapping[str, float]

    @property
    def nearest(self) -> str:
        """The variant that comes nearest."""
        return min(self.found, key=lambda name: abs(self.found[name] / self.printed - 1))

    @property
    def is_explained(self) -> bool:
        """Whether any variant gives the printed lead, within :data:`EXPLAINED`."""
        return abs(self.found[self.nearest] / self.printed - 1) <= EXPLAINED

    @property
    def median(self) -> float:
        """Median lead of all variants."""
        return median(self.found.values())


def variants(fitted: Settings) -> list[Variant]:
    """Return the fitted settings and those around them."""

    def both(name: str, settings: Settings, *, slower: bool = False) -> Variant:
        return Variant(name, settings, settings, slower)

    def of(**values: float) -> Settings:
        return replace(fitted, values={**fitted.values, **values})

    barriers = replace(fitted, lockstep=True, chunk_bytes=None)
    best, whole = replace(fitted, chunk_bytes=None), replace(fitted, chunk_bytes=_WHOLE)
    return [
        both("as fitted", fitted),
        both("alpha 10 us and nothing else", Settings({"alpha_us": 10})),
        both("slower NVLink", fitted, slower=True),
        both("alpha 2 us", of(alpha_us=2)),
        both("alpha 60 us", of(alpha_us=60)),
        both("best number of pipeline chunks", best),
        both("pipeline chunks of at most 256 KB", replace(fitted, chunk_bytes=2**18)),
        both(
            "pipeline chunks of at most 256 KB, window 8",
            replace(fitted, chunk_bytes=2**18, window=8),
        ),
        both("unlimited window", replace(best, window=UNLIMITED)),
        both("10 us a pipeline chunk", of(chunk_cost_us=10)),
        both("50 us a transfer", of(message_cost_us=50)),
        both("additions at 250 GB/s", of(gamma_s_per_gb=0.004)),
        both("critical paths first", replace(fitted, priority=Priority.CRITICAL_PATH)),
        both("a barrier after each step", barriers),
        Variant("a barrier after each step of the others", best, barriers),
        Variant("barriers of the others, slower NVLink", best, barriers, slower_nvlink=True),
        Variant("the others in one pipeline chunk", fitted, whole),
        Variant("the others in one chunk, slower NVLink", fitted, whole, slower_nvlink=True),
    ]


def leads(fitted: Settings, progress: Callable[[int, int], None] | None = None) -> list[Lead]:
    """Simulate every printed lead under every variant.

    Parameters
    ----------
    progress : callable, optional
        Called with (leads that are simulated, all).
    """
    asked = list(_asked())
    found = []
    for number, (topology, collective, methods, size, ratio) in enumerate(asked, 1):
        made = _simulators(topology, collective, methods)
        ratios = {}
        for variant in variants(fitted):
            here = _SLOWER_NVLINK[topology] if variant.slower_nvlink else topology
            ours = _best(made, here, _OURS, variant.ours, size)
            others = _best(made, here, _spelt(methods), variant.others, size)
            ratios[variant.name] = others / ours
        found.append(Lead(topology, collective, methods, size, ratio, ratios))
        if progress is not None:
            progress(number, len(asked))
    return found


def _asked() -> Iterator[tuple[str, str, tuple[str, ...], int, float]]:
    """Yield the printed leads; NCCL's ring and NVLS are one library where they are not apart."""
    lines = [line for line in printed("speedups.csv") if line["item"] in _ITEMS]
    for line in lines:
        if not line["speedup"]:
            continue
        same = [
            one["methods"]
            for one in lines
            if not one["speedup"]
            and (one["topology"], one["collectives"]) == (line["topology"], line["collectives"])
        ]
        methods = " ".join([line["methods"], *same]).split()
        yield (
            line["topology"],
            line["collectives"],
            tuple(dict.fromkeys(methods)),
            int(line["at_bytes"]),
            float(line["speedup"]),
        )


def _spelt(methods: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(text for name in methods for text in _PARAMETERS.get(name, (name,)))


def _simulators(
    topology: str, collective: str, methods: tuple[str, ...]
) -> Mapping[tuple[str, str], Simulator]:
    """Return simulators by network and method, where a method has a schedule."""
    ours = [one for one in _OURS if "multicast" not in one or "h100" in topology]
    curves = [
        Curve(here, collective, method, "" if here == topology else topology)
        for method in (*ours, *_spelt(methods))
        for here in (topology, _SLOWER_NVLINK[topology])
    ]
    return {(one.topology, one.method): made for one, made in simulators(curves).items()}


def _best(
    made: Mapping[tuple[str, str], Simulator],
    topology: str,
    methods: tuple[str, ...],
    settings: Settings,
    size: int,
) -> float:
    there = [made[topology, one] for one in methods if (topology, one) in made]
    return min(settings.time_s(simulator, size) for simulator in there)
