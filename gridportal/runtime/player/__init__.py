"""The C program that plays skeletons with an application's own MPI; see play.c."""
