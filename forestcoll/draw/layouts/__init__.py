"""Places of nodes in drawings.

To read: ``layout`` (which places suit a network), ``blocks`` (boxes and what joins them),
``lattices`` (grids, tori, circles), ``springs`` (anything else), ``places`` (their results).
"""
