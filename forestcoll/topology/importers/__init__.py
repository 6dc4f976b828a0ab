"""Networks out of files of other tools: ``teccl_input`` (what TE-CCL solves)."""
