"""MultiTree: ``multitree`` (what is asked of it), ``grove`` (how its trees grow)."""
