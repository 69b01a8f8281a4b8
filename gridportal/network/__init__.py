"""The network as a value: topology, routes, max-min flows, logical topology, file formats."""
