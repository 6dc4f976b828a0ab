"""Benchmarks of existing schedules: compilation, verification, simulation."""
