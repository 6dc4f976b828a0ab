"""Modules import each other in one direction only, also inside functions."""

from __future__ import annotations

import grimp
import networkx as nx


def test_no_modules_import_each_other_in_a_circle() -> None:
    """The layers of pyproject.toml order packages; this holds for all modules of all packages.

    Imports for type checkers are no part of the run-time graph.
    """
    packages = ("forestcoll", "lp", "baselines", "experiments")
    graph = grimp.build_graph(*packages, exclude_type_checking_imports=True, cache_dir=None)
    imports = nx.DiGraph(
        (module, imported)
        for module in graph.modules
        for imported in graph.find_modules_directly_imported_by(module)
    )
    circles = [sorted(c) for c in nx.strongly_connected_components(imports) if len(c) > 1]
    assert len(imports) > 500
    assert not circles
