"""The files of a release, built and tried in empty environments: ``python -m tests.release``."""
