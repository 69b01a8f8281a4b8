"""SRS, Stop Restart Software: MPI programs that stop as a whole, keep their data, and go on with other ranks."""
