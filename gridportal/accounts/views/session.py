"""Signing in and out."""

from __future__ import annotations

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse

from gridportal.accounts.audit import audit
from gridportal.accounts.forms import SignInForm
from gridportal.accounts.models import User
from gridportal.accounts.sign_in import record_success


class SignIn(LoginView):
    """The sign-in page. A `next` address on this host is followed afterwards."""

    http_method_names = ["get", "head", "post", "options"]
    template_name = "registration/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        person = form.get_user()
        response = super().form_valid(form)
        record_success(person, self.request)
        return response


class SignOut(LogoutView):
    """Ends the session; POST only, so that no link on another site can do it."""

    http_method_names = ["post", "options"]

    def post(self, request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        if isinstance(request.user, User):
            audit(request.user, "person.sign_out", request.user, request=request)
        return super().post(request, *args, **kwargs)
