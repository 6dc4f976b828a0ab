"""Lower bounds on the time of a collective at a size, latencies included.

To read: ``timed_links`` (links with their latencies, in the direction of the data), ``time_bound``
(the bound: a cut over time, or a rate after a delay), ``time_certificate`` (its certificate).
"""
