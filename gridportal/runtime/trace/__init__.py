"""The library that records the trace of an MPI program: C sources, and the generator of its wrappers."""
