"""Pages about the network. What jobs hold of it is given by whoever knows about jobs."""
