"""Every address of the portal."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from gridportal.api_addresses import Index

handler404 = "gridportal.api_addresses.not_found"
handler500 = "gridportal.api_addresses.failed"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("gridportal.accounts.urls")),
    path("", include("monitoring.urls")),
    path("", include("scheduling.urls")),
    path("", include("gridportal.experiments.urls")),
    path("api", Index.as_view(), name="api-index"),
    path("api/", include("gridportal.api_urls")),
]
