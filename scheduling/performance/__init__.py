"""Performance models: how long each phase of a program takes on given nodes."""
