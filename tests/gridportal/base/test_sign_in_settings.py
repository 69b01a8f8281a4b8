"""The settings of signing in: what cannot be meant, or would keep everybody out, is refused by its variable."""

from __future__ import annotations

import pytest

from gridportal.base.errors import InputError
from gridportal.base.portal_settings import PortalSettings

PROVIDER = {"OIDC_ISSUER": "https://login.example", "OIDC_CLIENT_ID": "portal"}
SERVER = {"LDAP_URL": "ldaps://ldap.example", "LDAP_BASE": "dc=example"}


def read(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> PortalSettings:
    for name, value in given.items():
        monkeypatch.setenv(f"GRIDPORTAL_{name}", value)
    return PortalSettings()


@pytest.mark.parametrize(
    "given",
    [
        PROVIDER,
        SERVER,
        {"OIDC_ISSUER": "http://127.0.0.1:9400", "OIDC_CLIENT_ID": "portal"},
        SERVER | {"LDAP_URL": "ldap://localhost:389"},
        SERVER | {"LDAP_URL": "ldap+starttls://ldap.example/"},
        PROVIDER | {"LOCAL_PASSWORDS": "false", "OIDC_ROLES": '{"admins": "administrator", "*": "user"}'},
        {"SECOND_FACTOR_ROLES": '["administrator"]'},
    ],
)
def test_what_can_be_meant_is_taken(monkeypatch: pytest.MonkeyPatch, given: dict[str, str]) -> None:
    read(monkeypatch, given)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (PROVIDER | {"OIDC_ISSUER": "http://login.example"}, "GRIDPORTAL_OIDC_ISSUER is .* https://"),
        (PROVIDER | {"OIDC_ISSUER": "https://"}, "GRIDPORTAL_OIDC_ISSUER is"),
        ({"OIDC_ISSUER": "https://login.example"}, "GRIDPORTAL_OIDC_CLIENT_ID is empty"),
        (SERVER | {"LDAP_URL": "ldap://ldap.example"}, "GRIDPORTAL_LDAP_URL is .* ldaps://"),
        ({"LDAP_URL": "ldaps://ldap.example"}, "GRIDPORTAL_LDAP_BASE is empty"),
        ({"LOCAL_PASSWORDS": "false"}, "GRIDPORTAL_LOCAL_PASSWORDS is .* neither"),
        (PROVIDER | {"OIDC_ROLES": '{"*": "administrator"}'}, "GRIDPORTAL_OIDC_ROLES is .* any role but administrator"),
        (PROVIDER | {"OIDC_ROLES": '{"a": "king"}'}, "GRIDPORTAL_OIDC_ROLES is 'king'"),
        (PROVIDER | {"OIDC_ROLES": "admins"}, "GRIDPORTAL_OIDC_ROLES is .* JSON"),
        (PROVIDER | {"OIDC_GROUPS": '{"a": "operator"}'}, "GRIDPORTAL_OIDC_GROUPS is .* none of them a role"),
        (SERVER | {"LDAP_FILTER": "objectClass=person"}, "GRIDPORTAL_LDAP_FILTER is .* in brackets"),
        (SERVER | {"LDAP_USERNAME": "uid)(a=b"}, "GRIDPORTAL_LDAP_USERNAME is"),
        ({"SECOND_FACTOR_ROLES": '["king"]'}, "GRIDPORTAL_SECOND_FACTOR_ROLES is 'king'"),
    ],
)
def test_what_cannot_is_refused_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], sentence: str
) -> None:
    with pytest.raises(InputError, match=sentence):
        read(monkeypatch, given)


def test_secrets_are_in_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError) as refused:
        read(monkeypatch, PROVIDER | {"OIDC_CLIENT_SECRET": "hidden" * 40})
    assert "hidden" not in str(refused.value)
