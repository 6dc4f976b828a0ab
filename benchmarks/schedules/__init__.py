"""Schedules once they are made: lowered, proved, simulated."""
