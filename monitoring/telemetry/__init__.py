"""Where figures come from: agents, Slurm, Prometheus, the Grid; polling them, and probes that do not collide."""
