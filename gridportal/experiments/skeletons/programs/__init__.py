"""Programs in C and Fortran that know nothing of the portal: each checks itself and prints the seconds that it took."""
