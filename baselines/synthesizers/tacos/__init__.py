"""TACOS: ``tacos`` (trials, and the schedule of the best), ``matching`` (one trial)."""
