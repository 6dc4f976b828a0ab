"""Measurements of baselines: Blink, MultiTree, SCCL, TACOS."""
