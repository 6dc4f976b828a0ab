"""Throughput-optimal schedules for collective communication on GPU networks, with their proofs.

>>> import forestcoll
>>> forest = forestcoll.generate("dgx_a100:boxes=4").schedule
>>> float(forest.algbw_gb_s)
266.6666666666667

The names are listed in ``__init__.pyi``.
"""

from __future__ import annotations

from forestcoll.lazy_loading import attach

_find, _names = attach(__name__)


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("forestcoll")
    try:
        return _find(name)
    except AttributeError:
        from forestcoll.former_names import FUNCTIONS, note

        if name not in FUNCTIONS:
            raise
        note(name, FUNCTIONS[name])
        return _find(FUNCTIONS[name])


def __dir__() -> list[str]:
    return [*_names(), "__version__"]
