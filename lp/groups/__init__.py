"""Process groups that communicate at once over shared links.

To read: ``result`` (what is asked, found and proved), ``sharing`` over ``group_program``,
``rounding`` (exact shares and forests), ``cli`` (``forestcoll groups``).
"""
