"""MultiTree: ``multitree`` (the method), ``tree_growth`` (the growth of its trees)."""
