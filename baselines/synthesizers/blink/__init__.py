"""Blink: ``blink``, its ``packing``, and ``blink_switch``, behind our removal of switches."""
