"""Networks out of files of other tools, one module a tool.

``teccl_input`` (what TE-CCL solves), ``taccl_input`` (TACCL's topologies); ``section`` reads the
fields of such files.
"""
