"""The least time of a collective at a size: search for the bottleneck cut over time.

To read: ``time_search`` (the public functions), ``separations`` (which GPUs to separate),
``refinement`` (nodes that a flow cannot tell apart), ``flow_over_time`` (the flow and its cut),
``gossip_over_time`` (of allreduces), ``gossip_from_root`` and ``passes_over_time`` (of switches
that reduce or multicast), ``delay`` (what latencies cost every schedule of any rate),
``simulated_latencies`` (where simulations pay them), ``simulated_bound`` (of simulations),
``time_certification`` (certificates).
"""
