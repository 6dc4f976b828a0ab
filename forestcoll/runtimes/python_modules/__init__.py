"""Python modules that run a schedule by grouped sends and receives of stock libraries, or by puts.

To read: ``rank_run`` (one call at one rank), ``over_torch_groups`` and ``over_nccl_groups`` (the
processes of torch.distributed and of nccl4py), ``over_nccl_puts`` (puts with signals),
``python_module`` (writes these and a table of transfers as one file), ``lockstep_check`` (runs such
a file on the CPU, all ranks in one process).
"""
