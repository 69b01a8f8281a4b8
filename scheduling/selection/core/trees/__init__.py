"""Groups on networks without cycles, by sweeps over their links."""
