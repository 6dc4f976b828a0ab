"""Changes of a network: parts left out, slower, faster or added.

To read: ``named_parts`` (the parts that a text such as "b3.gpu2 - ib" names), ``edits`` (removal,
scaling, addition), which a topology offers as methods.
"""
