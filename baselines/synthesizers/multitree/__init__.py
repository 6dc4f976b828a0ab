"""MultiTree: ``multitree`` (what is asked of it), ``tree_growth`` (how its trees grow)."""
