"""Cut explorer with Jupyter widgets: choose a network, its bandwidths and a set of nodes.

Without widgets (on the web, in print) the first comparison appears as static output.
"""

from __future__ import annotations

import html
import os
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import ipywidgets as widgets

from forestcoll.errors import ForestCollError, InvalidParameterError
from forestcoll.explore.compared_cut import CutComparison, compare_cut
from forestcoll.topology.changes.named_parts import parts_named
from forestcoll.topology.model import Topology
from forestcoll.topology.numbers import exact, exact_text
from forestcoll.topology.spec import load_topology
from forestcoll.topology.symmetry.automorphism import no_symmetry
from forestcoll.what_if.symmetric_parts import PartKind, symmetric_parts

__all__ = ["CutExplorer"]

_MOST_CLASSES = 8
"""Largest number of link classes with a field of their own."""

_STYLE = {"description_width": "14em"}
_WIDE = widgets.Layout(width="40em")


class CutExplorer:
    """A form above a comparison of cuts; appears as the last value of a notebook cell.

    Parameters
    ----------
    network : str or path
        A family, such as "dgx_a100:boxes=3", or a topology file.
    leaving_out : str or iterable of str, optional
        The nodes that S leaves out, by names or patterns, in one text with commas between.
        Without it, the first GPU.
    count : int
        How many tightest cuts are listed.

    Raises
    ------
    InvalidParameterError
        If the network is neither a text nor a path.
    ForestCollError
        If the first comparison fails; later failures appear as a line in the form.
    """

    def __init__(
        self,
        network: str | os.PathLike[str] = "dgx_a100:boxes=3",
        leaving_out: str | Iterable[str] | None = None,
        count: int = 3,
    ) -> None:
        if not isinstance(network, str | os.PathLike):
            raise InvalidParameterError(
                f"the explorer's network is a {type(network).__name__}; give a family or the path "
                f"of a file, which its form shows, or use compare_cut"
            )
        self.network = widgets.Text(
            os.fspath(network),
            description="network",
            layout=_WIDE,
            style=_STYLE,
            continuous_update=False,
        )
        self.leaving_out = widgets.Text(
            leaving_out if isinstance(leaving_out, str) else ", ".join(leaving_out or ()),
            description="S leaves out",
            layout=_WIDE,
            style=_STYLE,
            continuous_update=False,
        )
        self.count = widgets.IntSlider(
            count, 1, 6, description="tightest cuts", style=_STYLE, continuous_update=False
        )
        self.speeds: dict[str, widgets.Text] = {}
        self._fields = widgets.VBox()
        self._view = widgets.HTML()
        self._load()
        if leaving_out is None:
            self.leaving_out.value = self._base.nodes[self._base.compute[0]].name
        self.comparison: CutComparison = self._compared()
        self._view.value = self.comparison._repr_html_()
        self.network.observe(self._on_network, "value")
        for field in (self.leaving_out, self.count):
            field.observe(self._on_change, "value")

    @property
    def form(self) -> widgets.VBox:
        """The widgets with the comparison below them."""
        return widgets.VBox([self.network, self._fields, self.leaving_out, self.count, self._view])

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """The form where widgets run, the comparison anywhere else."""
        bundle: dict[str, Any] = dict(self.form._repr_mimebundle_(**options) or {})
        return {
            **bundle,
            "text/html": self.comparison._repr_html_(),
            "text/plain": str(self.comparison),
        }

    def _load(self) -> None:
        """Load the network, and make a field for the speed of each class of its links."""
        self._base: Topology = load_topology(self.network.value)
        self._links = _link_classes(self._base)
        self.speeds = {}
        for name, (_, speed) in list(self._links.items())[:_MOST_CLASSES]:
            field = widgets.Text(
                exact_text(speed),
                description=name,
                layout=_WIDE,
                style=_STYLE,
                continuous_update=False,
            )
            field.observe(self._on_change, "value")
            self.speeds[name] = field
        self._fields.children = tuple(self.speeds.values())

    def _compared(self) -> CutComparison:
        topology = self._base
        for name, field in self.speeds.items():
            links, speed = self._links[name]
            wanted = exact(field.value, f"the speed of {name}")
            if wanted <= 0:
                raise InvalidParameterError(f"the speed of {name} is {field.value}, not positive")
            if wanted != speed:
                topology = topology.scaled(links, wanted / speed)
        return compare_cut(topology, self.leaving_out.value, count=self.count.value)

    def _on_network(self, _: Any) -> None:
        self._show(load=True)

    def _on_change(self, _: Any) -> None:
        self._show(load=False)

    def _show(self, *, load: bool) -> None:
        try:
            if load:
                self._load()
            self.comparison = self._compared()
        except ForestCollError as error:
            self._view.value = f"<p style='color:#d55e00'>{html.escape(str(error))}</p>"
        else:
            self._view.value = self.comparison._repr_html_()


def _link_classes(topology: Topology) -> dict[str, tuple[list[str], Fraction]]:
    """Group links by kind and bandwidth: name of the class, its links, GB/s of each."""
    found: dict[str, tuple[list[str], Fraction]] = {}
    for parts in symmetric_parts(topology, no_symmetry(topology)):
        if parts.kind in (PartKind.LINK, PartKind.NIC):
            ends = parts_named(topology, parts.names[0]).links[0]
            speed = topology.link_between[ends].bandwidth_gb_s
            name = f"{parts.kind}s of {exact_text(speed)} GB/s"
            found.setdefault(name, ([], speed))[0].extend(parts.names)
    return found
