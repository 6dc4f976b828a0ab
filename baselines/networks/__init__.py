"""Views of a network that several methods share.

To read: ``boxes``, ``switch_paths`` (how data gets from GPU to GPU through switches),
``forwarding`` (and through GPUs); ``planes`` (switches side by side, merged into one); what
becomes of switches, ``switched``, ``switch_free``, ``unwinding``; where rings and trees lie,
``hamiltonian``, ``ports``, ``ring_layout``, ``own_nics``, ``nic_attachment``, ``ring_attachment``,
``rails``; ``torus_grid``.
"""
