"""The settings of this portal: each with its value, its meaning and where the value is from."""

from __future__ import annotations

import os

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from gridportal.base.portal_settings import variable
from gridportal.base.sign_in_settings import SignInSettings
from gridportal.serve import listing


@require_safe
@never_cache
def portal_settings(request: HttpRequest) -> HttpResponse:
    """For administrators; the values of secrets are shown to nobody."""
    if not request.user.has_perm("accounts.manage_people"):
        raise PermissionDenied("Administrators see the settings.")
    rows = [(each, "environment" if each.name in os.environ else "default") for each in listing.settings()]
    names = {variable(name) for name in SignInSettings.model_fields}
    context = {
        "sign_in": [row for row in rows if row[0].name in names],
        "others": [row for row in rows if row[0].name not in names],
        "has_provider": settings.PORTAL.oidc_issuer,
        "has_directory": settings.PORTAL.ldap_url,
    }
    return render(request, "serve/settings.html", context)
