"""Projects: who works on what, and what their jobs used."""
