"""Samples kept, compacted and read."""
