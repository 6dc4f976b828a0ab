"""Measuring the core: run from the project's folder, ``python -m benchmarks.bench_generate``."""
