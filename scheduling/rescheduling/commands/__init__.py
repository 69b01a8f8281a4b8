"""The command line of moves."""
