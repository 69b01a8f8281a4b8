"""What jobs used, added up by day."""
