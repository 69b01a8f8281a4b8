"""Jobs on this machine, without a Grid and without Slurm: mpiexec, a process that watches each run, and files."""
