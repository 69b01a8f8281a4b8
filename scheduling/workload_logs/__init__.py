"""Logs of jobs of other systems, in the Standard Workload Format: read into finished jobs, and made up for tests."""
