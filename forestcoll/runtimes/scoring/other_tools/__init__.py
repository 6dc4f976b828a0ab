"""Import of other synthesizers' outputs (TE-CCL, SCCL, TACCL) as step schedules.

To read: ``tool_transfers`` (the data read), ``teccl_output`` and ``sccl_algorithm`` (also TACCL),
``tool_files`` (detects the format), ``tool_schedule`` (on a network), ``tool_score``.
"""
