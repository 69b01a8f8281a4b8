"""What has to be done once before the parts of a portal start: tables, static files, the programs that ship."""

from __future__ import annotations

import logging
import os

from gridportal.errors import GridPortalError


def prepare() -> bool:
    """Bring tables, static files and the catalogue up to date; whether the static files had changed.

    A second call changes nothing. In a container it is the one-shot service that the others wait for.
    """
    set_up_django()
    from django.core.management import call_command

    from gridportal.serve.assets import gather
    from scheduling.services import install_catalogue

    logging.getLogger().setLevel(logging.WARNING)
    call_command("migrate", verbosity=0, interactive=False)
    install_catalogue()
    return gather()


def set_up_django() -> None:
    """Make models and settings usable in a command of ours. Raises GridPortalError for a setting that cannot be."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "gridportal.settings"
    import django
    from django.core.exceptions import ImproperlyConfigured

    try:
        django.setup()
    except ImproperlyConfigured as error:
        if isinstance(error.__cause__, GridPortalError):
            raise error.__cause__ from error
        raise GridPortalError(str(error)) from error
