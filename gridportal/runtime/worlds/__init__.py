"""A library in C that notes how large each MPI world is which a process of a job begins."""
