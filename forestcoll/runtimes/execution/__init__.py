"""Execution of schedules between processes, over MPI or torch.distributed.

To read: ``rank_plan`` (the work of one process), ``planning`` (plans from a program), ``transport``
(the interface between processes), ``over_mpi``, ``over_torch``, ``one_rank`` (executes the plan of
one process), ``launching`` (starts and watches all processes), ``execution`` (from a program to
times). Nothing is imported here, so that processes start quickly.
"""
