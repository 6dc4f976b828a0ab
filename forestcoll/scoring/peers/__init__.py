"""What other synthesizers write down, as a step schedule of ours.

To read: ``peer_transfers`` (what is read), ``teccl_output`` and ``sccl_algorithm`` (of TACCL, too),
``peer_files`` (which of them a file is), ``peer_schedule`` (on a network; with ``switch_copies``).
"""
