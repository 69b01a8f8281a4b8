"""Speaking Slurm: its commands, what they print, and what its states mean."""
