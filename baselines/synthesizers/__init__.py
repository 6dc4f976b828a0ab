"""Synthesizers: methods that search for a schedule of a given network.

``multitree/``, ``tacos/``, ``blink/``, ``sccl/``; ``unwound`` is our core behind the peers' way of
dealing with switches; ``not_reimplemented`` names those that comparisons must name all the same.
"""
