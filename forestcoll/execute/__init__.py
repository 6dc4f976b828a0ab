"""Schedules carried out for real: between processes, over MPI or torch.distributed.

To read: ``rank_plan`` (what one process does), ``planning`` (that, out of a program),
``transport`` (what reaches the other processes), ``over_mpi``, ``over_torch``, ``carrying_out`` (a
plan, over any of them), ``one_rank`` (one process), ``launching`` (all of them, watched),
``execution`` (from a program to times), ``cli`` (the command).

Nothing is imported here, so that processes start quickly.
"""
