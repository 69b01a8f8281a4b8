"""Second factors: an app's code that changes every 30 seconds (TOTP), and recovery codes for when all else is lost.
Keys stand in `security_keys.py`.

Source: RFC 6238. allauth keeps them (`allauth.mfa`); secrets are in the database only as ciphertext.
"""

from __future__ import annotations

import base64
import hashlib
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from gridportal.accounts.audit import Actor, audit
from gridportal.accounts.models import User
from gridportal.base.errors import ConflictError, InputError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

ISSUER = "GridPortal"
_WRONG = "the six digits that your app shows now"


class Factor(StrEnum):
    """By what somebody was the second time."""

    APP = "app"
    KEY = "security key"
    RECOVERY_CODE = "recovery code"
    PROVIDER = "provider"


class SecretsAdapter(DefaultMFAAdapter):  # type: ignore[misc]  # allauth has no types
    """allauth's, with secrets enciphered by the portal's key; whoever reads the database alone cannot use them."""

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """For whom a security key signs: the host of the address."""
        return {**super().get_public_key_credential_rp_entity(), "name": ISSUER}

    def get_public_key_credential_user_entity(self, user: User) -> dict[str, Any]:
        """What a key shows of whose it is: the username alone."""
        entity: dict[str, Any] = super().get_public_key_credential_user_entity(user)
        return entity | {"name": user.username, "display_name": user.username}

    def encrypt(self, text: str) -> str:
        return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode("ascii")

    def decrypt(self, encrypted_text: str) -> str:
        """Raises ConflictError where the portal's key is another one than when it was enciphered."""
        from cryptography.fernet import InvalidToken

        try:
            return _cipher(settings.SECRET_KEY).decrypt(encrypted_text.encode("ascii")).decode()
        except InvalidToken as error:
            message = "The portal's key has changed; an administrator has to remove this second factor."
            raise ConflictError(message) from error


#: Each of these is a second factor; recovery codes alone are none.
FACTORS = (Authenticator.Type.TOTP, Authenticator.Type.WEBAUTHN)


def is_set_up(person: User) -> bool:
    """Whether this person has a second factor."""
    return bool(Authenticator.objects.filter(user=person, type__in=FACTORS).exists())


def has_app(person: User) -> bool:
    """Whether an app is one."""
    return bool(Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP).exists())


def must_have(person: User) -> bool:
    """Whether the portal demands one of this person's role."""
    return person.role in settings.PORTAL.second_factor_roles


def new_secret() -> str:
    """What an app computes its codes from; it is kept only when a code of it has come."""
    from allauth.mfa.totp.internal.auth import generate_totp_secret

    return str(generate_totp_secret())


def app_address(person: User, secret: str) -> str:
    """What the picture says, which apps read: `otpauth://totp/...`."""
    from urllib.parse import quote, urlencode

    about = urlencode({"secret": secret, "issuer": ISSUER}, quote_via=quote)
    return f"otpauth://totp/{ISSUER}:{quote(person.username)}?{about}"


def picture(address: str) -> str:
    """A QR code, as the address of an image (SVG)."""
    drawn = SecretsAdapter().build_totp_svg(address).encode()
    return f"data:image/svg+xml;base64,{base64.b64encode(drawn).decode('ascii')}"


@transaction.atomic
def set_up(person: User, secret: str, code: str) -> list[str]:
    """Make this app a second factor; the recovery codes, which are shown once, where it is the first. Raises InputError
    for a wrong code, ConflictError where there is an app already."""
    from allauth.mfa.totp.internal.auth import TOTP

    if has_app(User.objects.select_for_update().get(pk=person.pk)):
        raise ConflictError("You have an app as a second factor already; remove it first.")
    is_first = not is_set_up(person)
    app = TOTP(Authenticator(user=person, data={"secret": SecretsAdapter().encrypt(secret)}))
    if not app.validate_code(_bare(code)):
        raise InputError("code", "***", _WRONG)
    TOTP.activate(person, secret)
    audit(person, "person.second_factor_set", person, factor=Factor.APP)
    return fresh_codes(person) if is_first else []


def accept(person: User, code: str) -> Factor | None:
    """By which factor of this person the code is right; None: it is wrong, or was used before."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
    from allauth.mfa.totp.internal.auth import TOTP

    kinds = {
        Authenticator.Type.TOTP: (TOTP, Factor.APP),
        Authenticator.Type.RECOVERY_CODES: (RecoveryCodes, Factor.RECOVERY_CODE),
    }
    for row in Authenticator.objects.filter(user=person, type__in=kinds).order_by("-type"):
        kind, factor = kinds[row.type]
        if kind(row).validate_code(_bare(code)):
            Authenticator.objects.filter(pk=row.pk).update(last_used_at=timezone.now())
            return factor
    return None


@transaction.atomic
def renew_codes(person: User) -> list[str]:
    """Ten recovery codes in place of those there were."""
    if not is_set_up(person):
        raise ConflictError("Recovery codes are for people with a second factor.")
    audit(person, "person.recovery_codes_made", person)
    return fresh_codes(person)


def codes_left(person: User) -> int:
    """How many recovery codes are not used up."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    row = Authenticator.objects.filter(user=person, type=Authenticator.Type.RECOVERY_CODES).first()
    return len(RecoveryCodes(row).get_unused_codes()) if row else 0


@transaction.atomic
def remove_app(person: User) -> None:
    """Take the app away; keys stay, and the recovery codes with them."""
    count, _ = Authenticator.objects.filter(user=person, type=Authenticator.Type.TOTP).delete()
    if count:
        audit(person, "person.second_factor_removed", person, factor=Factor.APP)
    forget_spare_codes(person)


def forget_spare_codes(person: User) -> None:
    """Recovery codes are for whoever has another factor."""
    if not is_set_up(person):
        Authenticator.objects.filter(user=person).delete()


@transaction.atomic
def remove(person: User, *, actor: Actor = None) -> bool:
    """Take away what there is, recovery codes as well; whether there was something. `actor` None: the person."""
    count, _ = Authenticator.objects.filter(user=person).delete()
    if count:
        audit(actor or person, "person.second_factor_removed", person)
    return bool(count)


def fresh_codes(person: User) -> list[str]:
    """Ten new recovery codes; those of before are of no use any more."""
    from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes

    Authenticator.objects.filter(user=person, type=Authenticator.Type.RECOVERY_CODES).delete()
    return [f"{code[:4]}-{code[4:]}" for code in RecoveryCodes.activate(person).generate_codes()]


def _bare(code: str) -> str:
    """As people copy codes, with spaces or a dash."""
    return "".join(code.split()).replace("-", "")[:20]


@cache
def _cipher(key: str) -> Fernet:
    from cryptography.fernet import Fernet

    digest: Any = hashlib.sha256(b"gridportal second factors " + key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
