"""Importer of ``ibnetdiscover``, in both of its forms.

Problem: switches, cables and adapters of an InfiniBand network.
Input:   records of nodes, each with a line a port (the default), or a line a cable (``-p``).
Output:  a :class:`Fabric`, by :class:`InfinibandFabric`.
Cost:    linear in lines.
Source:  rdma-core, ``infiniband-diags/ibnetdiscover.c``.
"""

from __future__ import annotations

import re

from forestcoll.topology.importers.fabric import Fabric
from forestcoll.topology.importers.fabrics.infiniband_fabric import CableEnd, InfinibandFabric
from forestcoll.topology.importers.text_lines import Line, text_lines

__all__ = ["fabric_from_listing", "fabric_from_ports"]

_GUID = r"(?:0x)?([0-9a-f]{1,16})"
_RATE = r"([0-9]{1,2}x|\?\?)\s?([A-Z0-9]{2,8}|\?\?\?)"
_TEXT = r'"([^"]{0,200})"'
_NODE = re.compile(rf'(Switch|Ca|Rt|\?\?\?)\s+[0-9]{{1,4}}\s+"[SHR?]-{_GUID}"\s+# {_TEXT}.*')
_IMAGE = re.compile(rf"sysimgguid={_GUID}.*")
_EXT = r"(?:\[ext [0-9]{1,4}\])?"
_PORT_GUID = r"\s*(?:\([0-9a-f]{1,16}\))?\s+"
_FAR_END = rf'"([SHR?])-{_GUID}"\[([0-9]{{1,4}})\]{_EXT}{_PORT_GUID}'
_SWITCH_PORT = re.compile(
    rf"\[([0-9]{{1,4}})\]{_EXT}\s+{_FAR_END}# {_TEXT} lid [0-9]{{1,6}} {_RATE}.*"
)
_CA_PORT = re.compile(
    rf"\[([0-9]{{1,4}})\]\s*\([0-9a-f]{{1,16}}\)\s+{_FAR_END}# lid [0-9]{{1,6}} lmc [0-9]{{1,3}} "
    rf"{_TEXT} lid [0-9]{{1,6}} {_RATE}.*"
)
_IGNORED = re.compile(r"(?:#|vendid=|devid=|switchguid=|caguid=|rtguid=|Chassis |Hostname:).*")

_COMPLAINT = re.compile(r"(?:src/|\.\./|ibwarn|ibpanic|ibnd)")
"""What the tool prints to the terminal beside the listing."""

_END = r"(SW|CA|RT|\?\?)\s+[0-9]{1,6}\s+([0-9]{1,4})\s+0x([0-9a-f]{1,16})"
_TWO_ENDS = re.compile(rf"{_END}\s+{_RATE}\s+-\s+{_END}\s+\( '(.{{0,200}}?)' - '(.{{0,200}}?)' \)")
_ONE_END = re.compile(rf"{_END}\s+{_RATE}\s+'(.{{0,200}})'")


def fabric_from_listing(text: str, source: str) -> Fabric:
    """Read the default output of ``ibnetdiscover``.

    Raises
    ------
    InvalidTopologyError
        If a line is none of it, or both ends of a cable differ.
    """
    found = InfinibandFabric(source)
    node: tuple[bool, str, str] | None = None
    image = ""
    for line in text_lines(text, source):
        if match := _NODE.fullmatch(line.text):
            node = match[1] == "Switch", match[2], match[3]
            if node[0]:
                found.add_switch(node[1], node[2])
            elif image:
                found.add_image(node[1], image)
            image = ""
        elif match := _IMAGE.fullmatch(line.text):
            image = match[1]
        elif match := _SWITCH_PORT.fullmatch(line.text) or _CA_PORT.fullmatch(line.text):
            if node is None:
                raise line.fault("is a port before any switch or adapter; write the file again")
            one = CableEnd(node[0], node[1], int(match[1]), node[2])
            other = CableEnd(match[2] == "S", match[3], int(match[4]), match[5])
            found.add(line, one, other, match[6], match[7])
        elif _COMPLAINT.match(line.text):
            found.add_complaint()
        elif not _IGNORED.fullmatch(line.text):
            raise _strange(line)
    return found.fabric()


def fabric_from_ports(text: str, source: str) -> Fabric:
    """Read the output of ``ibnetdiscover -p``.

    Raises
    ------
    InvalidTopologyError
        If a line is none of it, or both ends of a cable differ.
    """
    found = InfinibandFabric(source)
    for line in text_lines(text, source):
        if match := _TWO_ENDS.fullmatch(line.text):
            one = CableEnd(match[1] == "SW", match[3], int(match[2]), match[9])
            other = CableEnd(match[6] == "SW", match[8], int(match[7]), match[10])
            found.add(line, one, other, match[4], match[5])
        elif match := _ONE_END.fullmatch(line.text):
            if match[1] == "SW":
                found.add_switch(match[3], match[6])
            found.add_down(match[6])
        elif _COMPLAINT.match(line.text):
            found.add_complaint()
        elif not line.text.startswith("#"):
            raise _strange(line)
    return found.fabric()


def _strange(line: Line) -> Exception:
    return line.fault(
        f"{line.shown()} is not a line of ibnetdiscover; the file may be cut off, write it again"
    )
