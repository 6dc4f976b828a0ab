"""What a peer is to those who call it.

To read: ``method`` (a method and how it is run), ``supported`` (which collectives it does) and
``parameters`` (what it can be told).
"""
