"""Random networks of every family through the whole pipeline: ``python -m tests.fuzz``."""
