"""Variants of a schedule that satisfy a runtime's limits: ``runtime_fit``."""
