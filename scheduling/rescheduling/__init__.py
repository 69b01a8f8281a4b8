"""The rescheduler: whether moving a job to other nodes pays, and which job first."""
