"""TACCL, in the order of its stages.

To read: ``sketch``, ``sketch_files`` (shipped or derived); ``exchange``, ``logical_network``,
``sketch_symmetry``; ``least_time``, ``routing``, ``routing_rows`` (stage 1); ``ordering`` (2);
``exact_times``, ``contiguity`` (3); ``stages``, ``taccl``.
"""
