"""What a runtime's file, whoever wrote it, is worth on a network.

To read: ``least_hops`` (the paths of its transfers), ``file_score`` (its algbw, and the optimum).
"""
