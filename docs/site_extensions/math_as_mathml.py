"""Formulas as MathML, made at build time: browsers draw them without a script or a network."""

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import latex2mathml
from sphinx.application import Sphinx

__all__ = ["setup"]


def _known(formula: str) -> str:
    """Return a formula without sizes of brackets, which docutils does not know and MathML sets."""
    return re.sub(r"\\[Bb]igg?[lrm]?(?![A-Za-z])", "", formula)


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(str(latex2mathml.tex2mathml(_known(node.astext()))))
    raise nodes.SkipNode


def _display(translator: Any, node: nodes.math_block) -> None:
    formula = latex2mathml.tex2mathml(_known(node.astext()), as_block=True)
    translator.body.append(f'<div class="math">{formula}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Add the renderer, and choose it."""
    app.add_html_math_renderer("mathml", (_inline, None), (_display, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
