"""Networks that differ a little: what is dead, slower, or new.

To read: ``named_parts`` (what a text such as "b3.gpu2 - ib" names), ``edits`` (left out, scaled,
added), ``changed_file`` (all of it in a file).
"""
