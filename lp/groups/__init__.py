"""Process groups that communicate at once over shared links.

To read: ``result`` (request, result and check), ``sharing`` over ``group_program``, ``rounding``
(exact shares and forests), ``cli`` (``forestcoll groups``).
"""
