"""What every page and every REST address shares."""
