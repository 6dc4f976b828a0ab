"""Measurements of the programs of lp: allreduces, all-to-alls, groups."""
