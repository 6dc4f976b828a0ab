"""TE-CCL."""
