"""The C++20 core (see docs/architecture.md) and its binding, ``forestcoll.native._core``.

``standard_output`` keeps what native code prints out of the standard output.
"""
