"""Python modules that run a schedule by grouped sends and receives of stock libraries.

To read: ``rank_run`` (one call at one rank), ``over_torch_groups`` and ``over_nccl_groups`` (the
processes of torch.distributed and of nccl4py), ``python_module`` (writes these three and a table of
transfers as one file), ``lockstep_check`` (runs such a file on the CPU, all ranks in one process).
"""
