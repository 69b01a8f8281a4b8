"""Pictures of jobs: pure functions from rows and values to what the templates draw."""
