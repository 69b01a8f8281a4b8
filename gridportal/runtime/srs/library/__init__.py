"""SRS for programs in C and Fortran: the sources of a small library, built with the compiler of a program's own MPI."""
