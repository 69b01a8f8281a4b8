"""What every table of the portal may use."""
