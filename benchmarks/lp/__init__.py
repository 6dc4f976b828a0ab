"""Benchmarks of the linear programs, of all-to-alls of any amounts, and of process groups."""
