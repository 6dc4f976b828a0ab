"""Elements of HTML whose texts cannot be anything but texts: names come from files."""

from __future__ import annotations

import html
import json

__all__ = ["Html", "json_script", "tag"]

_VOID = frozenset({"meta", "input", "path", "circle", "line"})
"""Elements without content."""


class Html(str):
    """Text that is markup already, and is not escaped again."""

    __slots__ = ()


def tag(name: str, /, *children: str, **attributes: str | bool | int | None) -> Html:
    """Return an element.

    Parameters
    ----------
    name : str
    children : str
        Escaped, unless they are elements.
    attributes : str, int or bool
        ``aria_sort`` is ``aria-sort`` and ``class_`` is ``class``; True is one without a value,
        None and False are left out.

    Examples
    --------
    >>> tag("td", "<b>", tag("i", "a"), class_="a", hidden=True, title=None)
    '<td class="a" hidden>&lt;b&gt;<i>a</i></td>'
    """
    given = "".join(_attribute(key, value) for key, value in attributes.items())
    if name in _VOID:
        return Html(f"<{name}{given}/>")
    inside = "".join(
        child if isinstance(child, Html) else html.escape(child, quote=False) for child in children
    )
    return Html(f"<{name}{given}>{inside}</{name}>")


def _attribute(key: str, value: str | bool | int | None) -> str:
    name = key.rstrip("_").replace("_", "-")
    if value is None or value is False:
        return ""
    return f" {name}" if value is True else f' {name}="{html.escape(str(value))}"'


def json_script(identity: str, data: object) -> Html:
    """Return data for scripts to read; no text in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    text = text.replace("<", "\\u003c").replace(">", "\\u003e")
    return tag("script", Html(text), type="application/json", id=identity)
