"""Networks out of files of other tools: ``teccl_input`` (what TE-CCL solves).

``section`` reads the fields of such a file.
"""
