"""How the OpenAPI document describes our tokens; importing it is enough."""

from __future__ import annotations

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension


class BearerToken(OpenApiAuthenticationExtension):
    """`Authorization: Bearer gp_...`, made on the account page."""

    target_class = "gridportal.accounts.authentication.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token from your account page."}
