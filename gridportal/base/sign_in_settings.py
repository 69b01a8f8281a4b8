"""The settings of how people sign in: passwords, second factors, an OpenID Connect provider, an LDAP server."""

from __future__ import annotations

from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import Field, ValidationInfo, field_validator
from pydantic_settings import BaseSettings

Role = Literal["user", "operator", "manager", "administrator"]
SECRET = ("oidc_client_secret", "ldap_bind_password")
EVERYBODY = "*"
_ROLES = ("user", "operator", "manager", "administrator")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_LDAP = ("ldaps", "ldap+starttls", "ldap")


class SignInSettings(BaseSettings):
    """A part of the portal's settings. What a provider or a server says of groups counts at each sign-in."""

    second_factor_roles: tuple[Role, ...] = Field(
        (), description='Roles whose people must have a second factor: ["administrator", "operator"].'
    )
    oidc_issuer: str = Field(
        "", max_length=200, description="An OpenID Connect provider: https://login.example. Unset: there is none."
    )
    oidc_name: str = Field("single sign-on", max_length=40, description='What the button says after "Sign in with".')
    oidc_client_id: str = Field(
        "", max_length=191, validate_default=True, description="What the provider calls this portal."
    )
    oidc_client_secret: str = Field("", max_length=191, description="The portal's secret at the provider.")
    oidc_scopes: str = Field("openid profile email", description="What the portal asks the provider for.")
    oidc_username_claim: str = Field("preferred_username", description="The claim with the name of a new person.")
    oidc_groups_claim: str = Field("groups", description="The claim with a person's groups; a.b: b in the claim a.")
    oidc_roles: dict[str, Role] = Field(
        {}, description='Groups that give roles: {"admins": "administrator", "*": "user"}. Unset: new people are users.'
    )
    oidc_groups: dict[str, str] = Field({}, description='Groups there that are groups here: {"phys": "physics"}.')
    oidc_new_people: bool = Field(True, description="Whom the portal does not know becomes a new person.")
    oidc_second_factor: bool = Field(
        False, description="The provider asks for a second factor itself, so that the portal asks for none after it."
    )
    ldap_url: str = Field(
        "", description="An LDAP server: ldaps://HOST or ldap+starttls://HOST; ldap:// on this machine. Unset: none."
    )
    ldap_ca_file: Path | None = Field(None, description="Certificates that the server's is checked against.")
    ldap_bind_dn: str = Field("", description="Who looks people up. Unset: nobody in particular (anonymous).")
    ldap_bind_password: str = Field("", description="The password of that one.")
    ldap_base: str = Field("", validate_default=True, description="Where people are: ou=people,dc=example,dc=org.")
    ldap_filter: str = Field("(objectClass=person)", description="Which entries there are people.")
    ldap_username: str = Field(
        "uid", pattern=r"^[A-Za-z][A-Za-z0-9-]*$", description="The attribute that people sign in with."
    )
    ldap_group_base: str = Field("", description="Where groups are. Unset: only what memberOf says.")
    ldap_roles: dict[str, Role] = Field({}, description="As GRIDPORTAL_OIDC_ROLES; a group is its cn or whole name.")
    ldap_groups: dict[str, str] = Field({}, description="As GRIDPORTAL_OIDC_GROUPS.")
    ldap_new_people: bool = Field(True, description="Whom the portal does not know becomes a new person.")
    ldap_timeout: float = Field(5.0, gt=0, le=60, description="Seconds for one answer of the LDAP server.")
    local_passwords: bool = Field(
        True,
        validate_default=True,
        description="People may sign in by a password of the portal. false: by the provider or LDAP only.",
    )

    @field_validator("oidc_issuer", mode="after")
    @classmethod
    def _protected(cls, value: str) -> str:
        if value and not _is_protected(value, ("https",), "http"):
            raise ValueError("a URL that starts with https://, or with http:// on this machine")
        return value

    @field_validator("ldap_url", mode="after")
    @classmethod
    def _sealed(cls, value: str) -> str:
        if value and not _is_protected(value, _LDAP[:2], "ldap"):
            raise ValueError("a URL that starts with ldaps:// or ldap+starttls://, or with ldap:// on this machine")
        return value.rstrip("/")

    @field_validator("oidc_client_id", "ldap_base", mode="after")
    @classmethod
    def _complete(cls, value: str, info: ValidationInfo) -> str:
        needs = {"oidc_client_id": "oidc_issuer", "ldap_base": "ldap_url"}[str(info.field_name)]
        if info.data.get(needs) and not value:
            raise ValueError(f"a value, as GRIDPORTAL_{needs.upper()} has one")
        return value

    @field_validator("oidc_roles", "ldap_roles", mode="after")
    @classmethod
    def _not_everybody(cls, value: dict[str, Role]) -> dict[str, Role]:
        if value.get(EVERYBODY) == "administrator":
            raise ValueError(f"for {EVERYBODY} any role but administrator")
        return value

    @field_validator("oidc_groups", "ldap_groups", mode="after")
    @classmethod
    def _no_roles(cls, value: dict[str, str]) -> dict[str, str]:
        if any(not 1 <= len(group) <= 150 or group in _ROLES for group in value.values()):
            raise ValueError("names of groups of the portal, 1 to 150 letters, none of them a role")
        return value

    @field_validator("ldap_filter", mode="after")
    @classmethod
    def _in_brackets(cls, value: str) -> str:
        if not (value.startswith("(") and value.endswith(")")):
            raise ValueError("a filter in brackets, such as (objectClass=person)")
        return value

    @field_validator("local_passwords", mode="after")
    @classmethod
    def _some_way(cls, value: bool, info: ValidationInfo) -> bool:
        if not value and not info.data.get("oidc_issuer") and not info.data.get("ldap_url"):
            raise ValueError("true, as neither GRIDPORTAL_OIDC_ISSUER nor GRIDPORTAL_LDAP_URL is set")
        return value


def _is_protected(url: str, schemes: tuple[str, ...], plain: str) -> bool:
    """Whether what is sent there cannot be read on the way."""
    try:
        parts = urlsplit(url)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    if not parts.hostname or not has_port:
        return False
    return parts.scheme in schemes or (parts.scheme == plain and parts.hostname in _LOOPBACK)
