"""Several ranks on a node, pins, and groups of ranks with requirements of their own."""
