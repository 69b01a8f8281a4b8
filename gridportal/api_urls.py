"""Addresses of the REST API."""

from __future__ import annotations

from django.urls import path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.permissions import IsAuthenticated

from gridportal.accounts import api as accounts
from gridportal.accounts import openapi  # noqa: F401  (registers how tokens are described)

_SIGNED_IN = {"permission_classes": [IsAuthenticated]}

urlpatterns = [
    path("me", accounts.Me.as_view(), name="api-me"),
    path("tokens", accounts.Tokens.as_view(), name="api-tokens"),
    path("tokens/<int:pk>", accounts.Token.as_view(), name="api-token"),
    path("audit", accounts.Audit.as_view(), name="api-audit"),
    path("schema", SpectacularAPIView.as_view(**_SIGNED_IN), name="api-schema"),
    path("docs", SpectacularSwaggerSplitView.as_view(url_name="api-schema", **_SIGNED_IN), name="api-docs"),
]
