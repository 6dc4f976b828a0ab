"""The paper's Algorithms 1 to 5 as short Python, and brute force over all cuts: oracles for tests.

They are written to be read beside the paper and to be right, not to be fast: integers and
Fractions only, dictionaries for graphs, one plain max-flow. Up to 10 nodes or so.

- ``flow``: integer graphs, and the max-flow that the rest leans on
- ``cuts``: every cut enumerated
- ``optimality``: Algorithm 1
- ``edge_splitting``: Algorithms 2 and 3 with Theorem 6
- ``tree_packing``: Algorithm 4 with Theorem 10
- ``fixed_k``: Algorithm 5
- ``pipeline``: all of them in a row, topology in, forest out
- ``multitree``, ``matching``: methods', MultiTree and a trial of TACOS

A mapping ``trees`` gives the number of trees that each node roots; its keys are the nodes that must
receive. Allgather with k trees per root is ``{v: k for v in topology.compute}``.
"""
