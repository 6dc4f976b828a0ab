"""Benchmarks of the linear programs: allreduce, all-to-all, process groups."""
