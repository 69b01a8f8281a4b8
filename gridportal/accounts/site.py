"""Django's administration, for administrators only, entered through the portal's own sign-in."""

from __future__ import annotations

from urllib.parse import quote

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator


class PortalAdminSite(admin.AdminSite):
    """Sign-in, sign-out and passwords stay on the portal's pages, where they are throttled and audited."""

    site_header = site_title = "GridPortal administration"
    index_title = "People, applications and records"

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_active and request.user.is_superuser)

    @method_decorator(login_not_required)
    def login(self, request: HttpRequest, extra_context: object = None) -> HttpResponse:
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise PermissionDenied("Only administrators may open the administration.")
        return redirect(f"{reverse('sign-in')}?next={quote(reverse('admin:index'))}")

    def logout(self, request: HttpRequest, extra_context: object = None) -> HttpResponse:  # type: ignore[override]  # Django redirects too
        from gridportal.accounts.views.session import SignOut

        return SignOut.as_view()(request)

    def password_change(self, request: HttpRequest, extra_context: object = None) -> HttpResponse:  # type: ignore[override]  # Django redirects too
        return redirect("account")
