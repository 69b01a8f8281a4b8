"""A real OpenID Connect provider on loopback (PyPI's oidc-provider-mock), and a front before it.

The front insists on PKCE, which the provider itself does not look at, and can be told to be hostile: `change` makes
another ID token of what the provider says, signed by a key of the front that is among the provider's keys; `describe`
and `change_person` do the same to what the provider says of itself and of somebody.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import oidc_provider_mock
import requests
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from werkzeug.serving import make_server
from werkzeug.wrappers import Request, Response

_FOREIGN = re.compile(r"<link[^>]*https?://[^>]*>")
Change = Callable[[dict[str, Any]], dict[str, Any]]


def unchanged(given: dict[str, Any]) -> dict[str, Any]:
    return given


class Front:
    """What answers at the provider's address."""

    def __init__(self) -> None:
        self.issuer = ""
        self._provider = oidc_provider_mock.app()
        self._key = generate_private_key(public_exponent=65537, key_size=2048)
        self._challenges: dict[str, str] = {}
        self.be_good()

    def be_good(self) -> None:
        """No changes any more."""
        self.change: Change | None = None
        self.describe = self.change_person = unchanged

    def person(self, subject: str, **claims: Any) -> None:
        """What the provider knows of somebody from now on; an e-mail of their own unless told otherwise."""
        known = {"preferred_username": subject, "email": f"{subject}@example.org", "email_verified": True} | claims
        requests.put(f"{self.issuer}/users/{subject}", json=known, timeout=10).raise_for_status()

    def agree(self, address: str, subject: str, action: str = "authorize") -> str:
        """Somebody says yes on the provider's page at `address`; where that leads."""
        answer = requests.post(address, {"sub": subject, "action": action}, allow_redirects=False, timeout=10)
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        request = Request(environ)
        refused = self._refused(request)
        response = refused or Response.from_app(self._provider, environ, buffered=True)
        response.direct_passthrough = False
        self._after(request, response)
        return response(environ, start_response)

    def _refused(self, request: Request) -> Response | None:
        if request.path == "/favicon.ico":
            return Response(status=204)
        if request.path == "/oauth2/authorize" and request.args.get("code_challenge_method") != "S256":
            return Response("PKCE is missing", 400)
        if request.path != "/oauth2/token":
            return None
        body = request.get_data()
        request.environ["wsgi.input"] = io.BytesIO(body)  # the provider reads it as well
        form = parse_qs(body.decode())
        proof = hashlib.sha256(form.get("code_verifier", [""])[0].encode()).digest()
        wanted = self._challenges.pop(form.get("code", [""])[0], None)
        if wanted == base64.urlsafe_b64encode(proof).rstrip(b"=").decode():
            return None
        return Response(json.dumps({"error": "invalid_grant"}), 400, content_type="application/json")

    def _after(self, request: Request, response: Response) -> None:
        if request.path == "/oauth2/authorize" and response.status_code == 302:
            for code in parse_qs(urlsplit(response.headers["Location"]).query).get("code", []):
                self._challenges[code] = request.args["code_challenge"]
        if response.mimetype == "text/html":  # its style sheet is somewhere else
            response.set_data(_FOREIGN.sub("", response.get_data(as_text=True)))
        if response.status_code != 200 or not response.is_json:
            return
        about = response.json
        if request.path == "/jwks" and self.change:  # tokens of the provider itself name no key, so it has one only
            public = jwt.algorithms.RSAAlgorithm.to_jwk(self._key.public_key(), as_dict=True)
            about["keys"].append(public | {"kid": "front", "use": "sig", "alg": "RS256"})
        elif request.path == "/oauth2/token" and self.change:
            about["id_token"] = self._signed(self.change(_claims(about["id_token"])))
        elif request.path == "/.well-known/openid-configuration":
            about = self.describe(about)
        elif request.path == "/userinfo":
            about = self.change_person(about)
        response.set_data(json.dumps(about))

    def _signed(self, claims: dict[str, Any]) -> str:
        return jwt.encode(claims, self._key, algorithm="RS256", headers={"kid": "front"})


@contextmanager
def oidc_provider() -> Iterator[Front]:
    """One that runs as long as this is open."""
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    front = Front()
    server = make_server("127.0.0.1", 0, front, threaded=True)
    front.issuer = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield front
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
        os.environ.pop("AUTHLIB_INSECURE_TRANSPORT", None)


def _claims(token: str) -> dict[str, Any]:
    return jwt.decode(token, options={"verify_signature": False})
