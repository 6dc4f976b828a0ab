"""Blink: ``blink``, its ``packing``, and ``blink_switch``, after ForestColl's switch removal."""
