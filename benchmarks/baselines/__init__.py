"""Measurements of baselines: BFB and its conjecture, Blink, MultiTree, SCCL, TACOS."""
