"""SyCCL's symmetry sketches: trees of one GPU, rotated to all others.

To read: ``syccl`` (the method), ``layers`` (groups and rotations), ``symmetry_sketch``; ``shapes``
and ``sketch_search`` (the search), ``rotation`` (schedules of sketches), ``balancing`` (their
shares), ``sub_demands`` (boxes of direct links, by TE-CCL).
"""
