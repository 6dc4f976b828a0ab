"""The C++20 core (see docs/architecture.md) and its binding, ``forestcoll.native._core``."""
