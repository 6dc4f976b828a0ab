"""Methods that search for a schedule of the network that is given.

``multitree/``, ``tacos/``, ``blink/``, ``sccl/``; ``unwound`` is our core behind the peers' way of
dealing with switches; ``not_reimplemented`` names those that comparisons must name all the same.
"""
