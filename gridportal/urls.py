"""Every address of the portal."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from gridportal.serve.views import healthz, metrics, ready, settings_page
from gridportal.web.api_addresses import Index

handler400 = "gridportal.web.api_addresses.handle_400"
handler404 = "gridportal.web.api_addresses.handle_404"
handler500 = "gridportal.web.api_addresses.handle_500"

urlpatterns = [
    path("admin/", admin.site.urls),
    path("healthz", healthz.healthz, name="healthz"),
    path("readyz", ready.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    path("settings/", settings_page.portal_settings, name="settings"),
    path("", include("gridportal.accounts.urls")),
    path("", include("monitoring.urls")),
    path("", include("scheduling.urls")),
    path("", include("gridportal.experiments.urls")),
    path("api", Index.as_view(), name="api-index"),
    path("api/", include("gridportal.api_urls")),
]
