"""Exports to network simulators: LogGOPSim and htsim of ATLAHS, and ASTRA-sim.

To read: ``messages`` (pipeline chunks of transfers), ``simulator_ports`` (the links by which they
leave and arrive), ``port_order`` (which one leaves first), ``hidden_limits`` (what simulators of
ports do not see), ``goal`` (operations of the ranks), ``goal_network`` (bandwidths and latencies
for it); ``protobuf_wire``, ``chakra_trace`` (the same operations for ASTRA-sim) and
``astra_sim_run`` (its system and network).
"""
