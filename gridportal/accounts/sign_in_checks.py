"""Do the OpenID Connect provider and the LDAP server answer as signing in needs it? Asked by administrators."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from gridportal.accounts import ldap_sign_in, oidc
from gridportal.accounts.ldap_directory import DirectoryError
from gridportal.base.errors import GridPortalError

_MOST = 1000  # people that are counted
_NEEDED = ("authorization_endpoint", "token_endpoint", "jwks_uri")


def check_provider(request: HttpRequest) -> str:
    """What the provider says of itself, in a sentence. Raises GridPortalError where signing in would fail."""
    from requests import RequestException

    name, issuer = settings.PORTAL.oidc_name, settings.PORTAL.oidc_issuer
    try:
        configuration = oidc.document(f"{oidc.provider_key()}/.well-known/openid-configuration")
        oidc.check_issuer(configuration)
        missing = [field for field in _NEEDED if not configuration.get(field)]
        keys = oidc.document(configuration["jwks_uri"]).get("keys") if not missing else []
    except (RequestException, ValueError) as error:
        raise GridPortalError(f"{name} at {issuer} cannot be used: {str(error)[:300]}") from error
    if missing or not keys:
        lacking = ", ".join(missing) or "keys"
        raise GridPortalError(f"{name} at {issuer} cannot be used: its description has no {lacking}.")
    return (
        f"answers as {configuration['issuer']} and shows {len(keys)} key{'s' if len(keys) != 1 else ''}. "
        f"It must know this address of the portal: {oidc.redirect_uri(request)}"
    )


def check_directory() -> str:
    """What the LDAP server has, in a sentence. Raises GridPortalError where signing in would fail."""
    try:
        count = ldap_sign_in.directory().count_people(_MOST)
    except DirectoryError as error:
        raise GridPortalError(f"The LDAP server cannot be used: {error}") from error
    base = settings.PORTAL.ldap_base
    if not count:
        raise GridPortalError(f"The LDAP server answers, but below {base} nobody fits {settings.PORTAL.ldap_filter}.")
    people = f"{'at least ' if count >= _MOST else ''}{count} {'person' if count == 1 else 'people'}"
    return f"answers and knows {people} below {base}."
