"""Comparison of a measured collective with what the network can give.

``nccl_tests_output`` reads what nccl-tests and rccl-tests print, ``measured_shares`` divides by the
bound, by NCCL's algorithms and by a simulation, ``hypotheses`` names changed networks whose rates
fit the number. ``measured_report`` prints and draws it, for ``forestcoll expected --measured``.
``channel_rates`` rates the rings and trees that NCCL chose (``--channels``).
"""
