"""Reports of what was used, by whom and how it went: pages, CSV, PDF, and by e-mail at set times."""
