"""Texts stay texts, whatever is in them."""

from __future__ import annotations

import json

from experiments.report.markup import Html, json_script, tag

NASTY = "</script><script>alert(1)</script><!-- \"'&$x$ é ☃ \u2028"


def test_texts_and_attributes_are_escaped() -> None:
    """Angle brackets and ampersands in texts, quotes too in attributes; elements stay elements."""
    assert tag("p", "<b>&", tag("i", "a")) == "<p>&lt;b&gt;&amp;<i>a</i></p>"
    assert tag("p", Html("<b>"), title="\"<'") == '<p title="&quot;&lt;&#x27;"><b></p>'


def test_attributes_are_named_as_python_lets_them() -> None:
    """True has no value, None and False are not there; elements without content close at once."""
    made = tag("input", class_="a", aria_label="b", hidden=True, title=None, disabled=False)
    assert made == '<input class="a" aria-label="b" hidden/>'


def test_data_cannot_end_its_script() -> None:
    """No angle bracket is left, and the same data come out again."""
    made = json_script("a", {"name": NASTY})
    inside = made.removeprefix('<script type="application/json" id="a">').removesuffix("</script>")
    assert "<" not in inside
    assert json.loads(inside) == {"name": NASTY}
