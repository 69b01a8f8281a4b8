"""`python -m gridportal` is the `gridportal` command."""

from gridportal.cli import main

main()
