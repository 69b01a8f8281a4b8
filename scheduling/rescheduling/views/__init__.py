"""Pages of moves: lists, one decision, a job's own rules, dry runs."""
