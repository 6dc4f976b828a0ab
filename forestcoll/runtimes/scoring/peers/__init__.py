"""Import of other synthesizers' outputs (TE-CCL, SCCL, TACCL) as step schedules.

To read: ``peer_transfers`` (the data read), ``teccl_output`` and ``sccl_algorithm`` (also TACCL),
``peer_files`` (detects the format), ``peer_schedule`` (on a network).
"""
