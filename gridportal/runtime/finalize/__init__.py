"""A library for programs of MPICH 4.0: they end over TCP, too. Why: docs/decisions/mpich-4-0-over-tcp.md."""
