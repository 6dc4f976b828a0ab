"""Networks between boxes, named in a few words: ``rails:spines=4``.

To read: ``fabric_text`` (the words and their parser), ``galois_fields`` and ``switch_graphs``
(switches by number and the pairs that are linked) and ``box_fabrics`` (:func:`join_boxes`).
"""

from forestcoll.topology.families.fabric.box_fabrics import Port, join_boxes
from forestcoll.topology.families.fabric.fabric_text import Fabric, FabricText, parse_fabric

__all__ = ["Fabric", "FabricText", "Port", "join_boxes", "parse_fabric"]
