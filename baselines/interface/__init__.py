"""Common interface of the baselines.

To read: ``method`` (a method and how it is run), ``supported`` (which collectives it does),
``parameters`` (what it can be told) and ``search`` (what it tells of a search).
"""
