"""Every address of the portal."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("gridportal.accounts.urls")),
    path("", include("monitoring.urls")),
    path("", include("scheduling.urls")),
    path("api/", include("gridportal.api_urls")),
]
