"""The portal's processes on one machine: what `gridportal serve` starts, and what the demo shares with it."""
