"""Views of a network that several methods share.

Read ``boxes``, ``switch_paths`` (paths between GPUs through switches), ``forwarding`` (also through
GPUs); ``planes`` (parallel switches, merged into one); ``marked_switches`` (multicast);
``switched``, ``switch_free`` and ``unwinding`` (treatment of switches); ``hamiltonian``, ``ports``,
``ring_layout``, ``nic_attachment``, ``box_nics``, ``ring_crossings``, ``ring_attachment`` and
``rails`` (layout of rings and trees); ``torus_grid``.
"""
