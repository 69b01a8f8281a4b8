"""The ID token of an OpenID Connect provider, taken only when every check of the standard holds.

Source: OpenID Connect Core 1.0, 3.1.3.7. The signature is checked though the token comes from the provider itself.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

import jwt

#: Public keys only: with a shared one whoever can check a token can make one.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
LEEWAY = 30  # seconds by which the provider's clock may differ
_NEEDED = ("iss", "sub", "aud", "exp", "iat")


class BadTokenError(Exception):
    """It is not what the provider would send us now; says which check failed."""


def claims_of(token: str, keys: Mapping[str, Any], *, issuer: str, client_id: str, nonce: str) -> dict[str, Any]:
    """What the token says. `keys`: the provider's JWKS. Raises BadTokenError."""
    try:
        claims = jwt.decode(
            token,
            _key(token, keys),
            algorithms=list(ALGORITHMS),
            issuer=issuer,
            audience=client_id,
            leeway=LEEWAY,
            options={"require": list(_NEEDED)},
        )
    except (jwt.PyJWTError, KeyError, TypeError, ValueError) as error:
        raise BadTokenError(f"{type(error).__name__}: {error}") from error
    if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
        raise BadTokenError("the nonce is not ours")
    subject = claims["sub"]
    if not isinstance(subject, str) or not 1 <= len(subject) <= 191 or not subject.isprintable():
        raise BadTokenError("the subject is no text of 1 to 191 letters")
    party = claims.get("azp")
    if party not in (None, client_id) or (party is None and isinstance(claims["aud"], list) and len(claims["aud"]) > 1):
        raise BadTokenError("it is made out to another party")
    return claims


def _key(token: str, keys: Mapping[str, Any]) -> Any:
    """The key that the token names; a token without a name is checked by the only key."""
    kid = jwt.get_unverified_header(token).get("kid")
    usable = [key for key in jwt.PyJWKSet.from_dict(dict(keys)).keys if key.public_key_use in (None, "sig")]
    named = [key for key in usable if key.key_id == kid] if kid is not None else usable
    if len(named) != 1:
        raise BadTokenError(f"{len(named)} of the provider's keys are called {kid!r}")
    return named[0]
