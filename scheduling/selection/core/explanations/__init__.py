"""Why a group was chosen, and why others and other nodes were not."""
