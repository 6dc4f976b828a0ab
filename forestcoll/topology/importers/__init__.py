"""Import of networks from files of other tools, one module for each tool.

``teccl_input`` (inputs of TE-CCL), ``taccl_input`` (topologies of TACCL); ``section`` reads the
fields of such files.
"""
