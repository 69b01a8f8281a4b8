"""ID tokens: who signed them, and with what; what they claim is tried against a provider in test_oidc.py."""

from __future__ import annotations

import base64
import hmac
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from gridportal.accounts.id_token import BadTokenError, claims_of

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CURVE = ec.generate_private_key(ec.SECP256R1())
EXPECTED = {"issuer": "https://login.example", "client_id": "portal", "nonce": "once"}


def public(key, kid="k", **more):
    kinds = {rsa.RSAPrivateKey: jwt.algorithms.RSAAlgorithm, ec.EllipticCurvePrivateKey: jwt.algorithms.ECAlgorithm}
    kind = next(kind for of, kind in kinds.items() if isinstance(key, of))
    return kind.to_jwk(key.public_key(), as_dict=True) | {"kid": kid} | more


def token(key=KEY, algorithm="RS256", kid="k", **claims):
    now = int(time.time())
    usual = {"iss": "https://login.example", "aud": "portal", "sub": "1", "nonce": "once", "iat": now, "exp": now + 60}
    return jwt.encode(usual | claims, key, algorithm=algorithm, headers={"kid": kid} if kid else None)


def check(text, *keys):
    return claims_of(text, {"keys": list(keys)}, **EXPECTED)


def test_one_that_is_right_is_taken_also_without_the_name_of_its_key():
    assert check(token(), public(KEY), public(OTHER, "other"))["sub"] == "1"
    assert check(token(kid=None), public(KEY))["sub"] == "1"
    assert check(token(CURVE, "ES256"), public(CURVE))["sub"] == "1"


@pytest.mark.parametrize(
    ("text", "keys"),
    [
        (token(OTHER), [public(KEY)]),
        (token(kid="unknown"), [public(KEY)]),
        (token(kid=None), [public(KEY), public(OTHER, "other")]),
        (token(), [public(KEY, use="enc")]),
        (token(), []),
        (token()[:-4] + "AAAA", [public(KEY)]),
        ("no-token", [public(KEY)]),
        ("", [public(KEY)]),
        (token(sub=""), [public(KEY)]),
        (token(sub="x" * 192), [public(KEY)]),
        (token(iat=int(time.time()) + 600), [public(KEY)]),
        (token(nbf=int(time.time()) + 600), [public(KEY)]),
    ],
)
def test_others_are_refused(text, keys):
    with pytest.raises(BadTokenError):
        check(text, *keys)


def test_neither_no_signature_nor_the_public_key_as_a_secret_will_do():
    head, body, _ = token().split(".")
    none = base64.urlsafe_b64encode(json.dumps({"alg": "none", "kid": "k"}).encode()).rstrip(b"=").decode()
    secret = KEY.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    shared = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": "k"}).encode()).rstrip(b"=").decode()
    sealed = hmac.digest(secret, f"{shared}.{body}".encode(), "sha256")
    hashed = base64.urlsafe_b64encode(sealed).rstrip(b"=").decode()
    for text in (f"{none}.{body}.", f"{head}.{body}.", f"{shared}.{body}.{hashed}"):
        with pytest.raises(BadTokenError):
            check(text, public(KEY))
        with pytest.raises(BadTokenError):
            check(text, {"kty": "oct", "kid": "k", "k": base64.urlsafe_b64encode(secret).decode()})
