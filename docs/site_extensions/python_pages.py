"""Pages of the Python interface, from the docstrings: each public name once, by subject."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import forestcoll
from forestcoll.lazy_loading import homes

__all__ = ["SUBJECTS", "python_pages"]

SUBJECTS = {
    "01-networks": ("Networks", ("topology", "networkx")),
    "02-optima": ("Optima, bounds and certificates", ("problem", "core", "cut_over_time")),
    "03-schedules": ("Schedules", ("generation", "schedule", "k_scan", "bounded_depth")),
    "04-changes": ("Failures and upgrades", ("what_if",)),
}
"""Pages of the names of ``import forestcoll``, and the packages that these names are from."""

_API = {
    "optimum": "02-optima",
    "certify": "02-optima",
    "replan": "04-changes",
}
"""Names whose module does not decide their subject."""

_PACKAGES = {
    "05-draw": "forestcoll.draw",
    "06-topology": "forestcoll.topology",
    "07-schedule": "forestcoll.schedule",
    "08-simulate": "forestcoll.schedule.simulate",
    "09-transform": "forestcoll.schedule.transform",
    "10-networkx": "forestcoll.networkx",
    "11-errors": "forestcoll.errors",
    "12-lp": "lp",
    "13-baselines": "baselines",
}
"""Pages of packages whose names are imported from them."""


def python_pages() -> dict[str, str]:
    """Return the pages of Markdown, by file name."""
    names: dict[str, list[str]] = {page: [] for page in SUBJECTS}
    for name, home in homes("forestcoll").items():
        if not isinstance(getattr(forestcoll, name), ModuleType):
            names[_subject(name, home)].append(name)
    pages = {page: _page(title, "forestcoll", names[page]) for page, (title, _) in SUBJECTS.items()}
    known = [getattr(forestcoll, name) for several in names.values() for name in several]
    for page, package in _PACKAGES.items():
        found = import_module(package)
        new = [name for name in found.__all__ if not any(getattr(found, name) is x for x in known)]
        old = [name for name in found.__all__ if name not in new]
        pages[page] = _page(f"`{package}`", package, new, old)
        known += [getattr(found, name) for name in new]
    return {f"{page}.md": text for page, text in pages.items()}


def _subject(name: str, home: str) -> str:
    """Return the page of a name of ``import forestcoll``; schedules have what is of no other."""
    package = home.split(".")[1]
    found = (page for page, (_, packages) in SUBJECTS.items() if package in packages)
    return _API.get(name, next(found, "03-schedules"))


def _page(title: str, package: str, names: list[str], elsewhere: list[str] | None = None) -> str:
    module = import_module(package)
    parts = [f"# {title}"]
    if package != "forestcoll":
        parts.append(_first_line(module))
    if elsewhere:
        listed = ", ".join(f"{{py:obj}}`~forestcoll.{name}`" for name in elsewhere)
        parts.append(f"Also importable from here, and described on other pages: {listed}.")
    parts.append("```{eval-rst}\n" + "\n\n".join(_entries(module, names)) + "\n```")
    return "\n\n".join(parts) + "\n"


def _first_line(module: ModuleType) -> str:
    return (inspect.getdoc(module) or "").partition("\n")[0].replace("``", "`")


def _entries(module: ModuleType, names: list[str]) -> Iterator[str]:
    for name in names:
        yield f".. {_kind(getattr(module, name))}:: {module.__name__}.{name}" + _options(
            getattr(module, name)
        )


def _kind(value: Any) -> str:
    if isinstance(value, type):
        return "autoexception" if issubclass(value, BaseException) else "autoclass"
    return "autofunction" if callable(value) and hasattr(value, "__name__") else "autodata"


def _options(value: Any) -> str:
    return "\n   :members:" if isinstance(value, type) else ""
