"""What all else stands on: errors, processes, settings, causes, the reader of run directories."""
