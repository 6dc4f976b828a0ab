"""Bounds on time against simulations."""
