"""The OpenID Connect provider: where a sign-in begins, and what it says about somebody when it ends.

allauth keeps state and PKCE and talks to the provider; on top of it come a nonce, the issuer's own name, and every
check of the ID token (`id_token.py`).
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import HttpRequest
from django.urls import reverse

from gridportal.accounts.identities import Identity
from gridportal.accounts.refusals import Refusal, SignInRefusedError

if TYPE_CHECKING:
    from allauth.socialaccount.models import SocialApp

_PROVIDER = "openid_connect"  # allauth's name of the kind
_TIMEOUT = 5.0  # seconds for one answer
_LARGEST = 1_000_000  # bytes of one answer that are read
_STATE = 64  # letters of a state that are looked at
_LONGEST_EMAIL = 254  # as the column has it


@dataclass(frozen=True, slots=True)
class Ended:
    """A sign-in that came back from the provider: who it is, where the person wanted to go, and whether an account is
    to be joined with it. `second_factor`: the provider has asked for one."""

    identity: Identity
    address: str
    joins: bool


def is_set() -> bool:
    """Whether there is a provider."""
    return bool(settings.PORTAL.oidc_issuer)


def provider_key() -> str:
    """What an identity of the provider is kept under."""
    return str(settings.PORTAL.oidc_issuer).rstrip("/")


def redirect_uri(request: HttpRequest) -> str:
    """Where the provider sends people back to; it has to know this address."""
    path = reverse("sign-in-provider-callback")
    return f"{settings.PORTAL.public_url}{path}" if settings.PORTAL.public_url else request.build_absolute_uri(path)


def begin(request: HttpRequest, address: str, *, joins: bool = False) -> str:
    """The address of the provider's page; the session remembers what was asked. Raises SignInRefusedError."""
    from requests import RequestException

    nonce = secrets.token_urlsafe(24)
    try:
        adapter = _adapter(request)
        answer = adapter.get_provider().redirect(
            request, "connect" if joins else "login", address, auth_params={"nonce": nonce}, nonce=nonce
        )
    except RequestException as error:
        raise _refused(Refusal.NO_ANSWER, error) from error
    except (KeyError, ValueError) as error:
        raise _refused(Refusal.BAD_ANSWER, error) from error
    return str(answer["Location"])


def end(request: HttpRequest) -> Ended:
    """What the provider says, when it has sent somebody back. Raises SignInRefusedError."""
    from allauth.socialaccount.internal import statekit
    from allauth.socialaccount.providers.oauth2.client import OAuth2Error
    from requests import RequestException

    app = provider_app()
    state = statekit.unstash_state(request, provider_id=app.provider_id, state_id=request.GET.get("state", "")[:_STATE])
    if state is None:
        raise SignInRefusedError(Refusal.NOT_BEGUN, settings.PORTAL.oidc_name)
    if "code" not in request.GET:
        cancelled = request.GET.get("error") == "access_denied"
        raise SignInRefusedError(
            Refusal.CANCELLED if cancelled else Refusal.BAD_ANSWER,
            settings.PORTAL.oidc_name,
            detail=request.GET.get("error", "no code")[:100],
        )
    try:
        adapter = _adapter(request)
        client = adapter.get_client(request, app)
        answer = adapter.get_access_token_data(request, app, client, pkce_code_verifier=state["pkce_code_verifier"])
        claims = _claims(adapter.openid_config, answer, state["nonce"])
    except RequestException as error:
        raise _refused(Refusal.NO_ANSWER, error) from error
    except (OAuth2Error, KeyError, TypeError, ValueError) as error:
        raise _refused(Refusal.BAD_ANSWER, error) from error
    return Ended(_identity(claims), str(state.get("next") or ""), state["process"] == "connect")


def provider_app() -> SocialApp:
    """The provider as allauth takes it; it is in no table, but made of the settings."""
    from allauth.socialaccount.models import SocialApp

    portal = settings.PORTAL
    about = {"server_url": provider_key(), "oauth_pkce_enabled": True, "scope": portal.oidc_scopes.split()}
    return SocialApp(
        provider=_PROVIDER,
        provider_id=portal.oidc_issuer,
        name=portal.oidc_name,
        client_id=portal.oidc_client_id,
        secret=portal.oidc_client_secret,
        settings=about,
    )


def document(address: str, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A JSON object of the provider. Raises RequestException or ValueError."""
    import requests

    with requests.get(address, headers=dict(headers or {}), timeout=_TIMEOUT, stream=True) as answer:
        answer.raise_for_status()
        text = answer.raw.read(_LARGEST, decode_content=True)
    parsed = json.loads(text)
    if not isinstance(parsed, dict):
        raise ValueError(f"{address} answers with no JSON object")
    return parsed


def check_issuer(configuration: Mapping[str, Any]) -> str:
    """The issuer as the provider writes it. Raises ValueError where it is not the one of the settings."""
    issuer = str(configuration.get("issuer", ""))
    if issuer.rstrip("/") != settings.PORTAL.oidc_issuer.rstrip("/"):
        raise ValueError(f"the provider calls itself {issuer[:200]!r}, not {settings.PORTAL.oidc_issuer!r}")
    return issuer


def _adapter(request: HttpRequest) -> Any:
    """allauth's, with the portal's own address to come back to and an issuer that is checked."""
    from allauth.socialaccount.providers.openid_connect.provider import OpenIDConnectProvider
    from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter

    class Adapter(OpenIDConnectOAuth2Adapter):  # type: ignore[misc]  # allauth has no types
        def get_provider(self) -> Any:
            return Provider(request, app=provider_app())

        def get_callback_url(self, request: HttpRequest, app: SocialApp) -> str:
            return redirect_uri(request)

        @property
        def basic_auth(self) -> bool:
            ways = self.openid_config.get("token_endpoint_auth_methods_supported", ["client_secret_basic"])
            return bool(settings.PORTAL.oidc_client_secret) and "client_secret_post" not in ways

        @property
        def openid_config(self) -> dict[str, Any]:
            if not hasattr(self, "_openid_config"):
                self._openid_config = document(self.get_provider().server_url)
                check_issuer(self._openid_config)
            return self._openid_config

    class Provider(OpenIDConnectProvider):  # type: ignore[misc]  # allauth has no types
        def get_oauth2_adapter(self, request: HttpRequest) -> Any:
            return adapter

    adapter = Adapter(request, settings.PORTAL.oidc_issuer)
    return adapter


def _claims(configuration: Mapping[str, Any], answer: Mapping[str, Any], nonce: str) -> dict[str, Any]:
    """What the ID token says, and about what it does not say the page for that. Raises ValueError."""
    from gridportal.accounts.id_token import BadTokenError, claims_of

    try:
        claims = claims_of(
            str(answer["id_token"]),
            document(configuration["jwks_uri"]),
            issuer=check_issuer(configuration),
            client_id=settings.PORTAL.oidc_client_id,
            nonce=nonce,
        )
    except BadTokenError as error:
        raise ValueError(f"ID token: {error}") from error
    if "userinfo_endpoint" not in configuration:
        return claims
    more = document(configuration["userinfo_endpoint"], {"Authorization": f"Bearer {answer['access_token']}"})
    if more.get("sub") != claims["sub"]:
        raise ValueError("the page about the person is about somebody else")
    return more | claims


def _identity(claims: Mapping[str, Any]) -> Identity:
    portal = settings.PORTAL
    is_confirmed = claims.get("email_verified") in (True, "true")
    return Identity(
        provider=provider_key(),
        subject=claims["sub"],
        username=str(_inside(claims, portal.oidc_username_claim) or "").strip(),
        email=_email(claims.get("email")) if is_confirmed else "",
        groups=_groups(_inside(claims, portal.oidc_groups_claim)),
    )


def _email(value: object) -> str:
    """An address that a message can be sent to; empty for anything else."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        validate_email(text)
    except ValidationError:
        return ""
    return text if len(text) <= _LONGEST_EMAIL else ""


def _inside(claims: Mapping[str, Any], name: str) -> object:
    """The claim of this name; `a.b` is b in a, unless a claim is called so."""
    if name in claims:
        return claims[name]
    value: object = claims
    for part in name.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _groups(value: object) -> frozenset[str] | None:
    if isinstance(value, str):
        return frozenset({value})
    return frozenset(map(str, value)) if isinstance(value, list) else None


def _refused(reason: Refusal, error: Exception) -> SignInRefusedError:
    detail = f"{type(error).__name__}: {error}"[:500]
    return SignInRefusedError(reason, settings.PORTAL.oidc_name, detail=detail)
