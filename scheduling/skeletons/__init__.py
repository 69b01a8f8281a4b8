"""Short programs that foretell long ones, and their runs on candidate groups."""
