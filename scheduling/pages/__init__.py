"""Pages and REST of jobs: submit, list, job page, reports."""
