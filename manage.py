#!/usr/bin/env python
"""Django's command line, for migrations and the shell; people use the `gridportal` command."""

import os
import sys

from django.core.management import execute_from_command_line

from gridportal.base import home

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gridportal.settings")
    home.join()  # the private database of `gridportal serve`, when this home has one
    execute_from_command_line(sys.argv)
