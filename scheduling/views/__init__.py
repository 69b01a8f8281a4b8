"""Pages about jobs and applications: each reads input, checks permission, calls one service and answers."""
