"""Data of jobs that stop and go on elsewhere: how it moves from one layout to another, and how long that takes."""
