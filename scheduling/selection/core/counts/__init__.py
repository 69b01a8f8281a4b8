"""How many ranks."""
