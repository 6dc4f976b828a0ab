"""What a peer is to those who call it.

To read: ``method`` (a method and how it is run), ``parameters`` (what it can be told), ``limits``
(how long it may search).
"""
