"""Slurm as a backend, through its own commands: sbatch, squeue, sacct, scontrol, scancel."""
