"""Sign-in, and a new API token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from gridportal.accounts import sign_in, tokens
from gridportal.accounts.models import User
from gridportal.accounts.roles import ALL_ROLES
from gridportal.base.dates import MomentField


class SignInForm(AuthenticationForm):
    """Username and password; after five failures from one address it asks to wait."""

    error_messages = {
        "invalid_login": "This username and password do not belong together. Both are case-sensitive.",
        "inactive": "This account has been switched off; ask an administrator.",
        "wait": "Too many failed sign-ins: try again in %(minutes)s min.",
    }

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if not username or not self.cleaned_data.get("password"):
            return self.cleaned_data
        minutes = sign_in.minutes_to_wait(username, self._sent)
        if minutes:
            raise ValidationError(self.error_messages["wait"], code="wait", params={"minutes": minutes})
        try:
            return super().clean()
        except ValidationError:
            sign_in.record_failure(username, self._sent)
            raise

    @property
    def _sent(self) -> HttpRequest:
        """What the form came with."""
        if self.request is None:
            raise ValueError("SignInForm needs the request: failures are counted by its address.")
        return self.request


class PasswordForm(PasswordChangeForm):
    """The old password and the new one twice; wrong old ones count as failed sign-ins."""

    keep_tokens = forms.BooleanField(
        required=False,
        label="Keep my API tokens",
        help_text="Otherwise they are revoked: whoever knew the old password may have made one.",
    )

    def __init__(self, user: User, data: Any = None, *, request: HttpRequest | None = None) -> None:
        super().__init__(user, data)
        self.request = request
        # The page is about more than the password, so the focus stays where the page begins.
        self.fields["old_password"].widget.attrs.pop("autofocus", None)
        self.fields["new_password2"].label = "New password again"
        self.fields["new_password2"].help_text = ""
        self.fields[
            "new_password1"
        ].help_text = "At least 8 characters; not only digits, not a common password, not close to your username."

    def clean_old_password(self) -> str:
        """As Django's, but after too many wrong ones it asks to wait."""
        request = self.request
        minutes = sign_in.minutes_to_wait(self.user.username, request) if request else 0
        if minutes:
            raise ValidationError(f"Too many wrong passwords: try again in {minutes} min.", code="wait")
        try:
            return str(super().clean_old_password())
        except ValidationError:
            if request:
                sign_in.record_failure(self.user.username, request)
            raise


class TokenForm(forms.Form):
    """What the token is for, and for how long."""

    name = forms.CharField(max_length=80, label="What is it for?")
    days = forms.TypedChoiceField(coerce=int, empty_value=None, required=False, label="It expires")

    def __init__(self, data: Any = None) -> None:
        super().__init__(data)
        longest = tokens.longest_days()
        offered = [days for days in tokens.CHOICES if days < longest]
        offered += [] if tokens.may_be_endless() else [longest]
        endless = [("", "never")] if tokens.may_be_endless() else []
        choices = [*((days, f"in {days} days") for days in offered), *endless]
        self.fields["days"].choices = choices  # type: ignore[attr-defined]  # it is a TypedChoiceField
        self.fields["days"].initial = tokens.usual_days()
        self.fields["days"].required = not endless


class InviteForm(forms.Form):
    """Who is invited, with which role."""

    username = forms.CharField(label="Username", max_length=150, widget=forms.TextInput({"autocomplete": "off"}))
    role = forms.ChoiceField(label="Role", choices=[(role, role) for role in ALL_ROLES])
    email = forms.EmailField(
        label="E-mail",
        required=False,
        max_length=254,
        widget=forms.TextInput,
        help_text="Where notices may go. May be empty.",
    )


class AuditFilterForm(forms.Form):
    """The audit page's filters; each is in the address."""

    actor = forms.CharField(required=False, max_length=150, label="Who")
    action = forms.CharField(required=False, max_length=60, label="Did what", widget=forms.Select())
    object = forms.CharField(
        required=False,
        max_length=200,
        label="To what",
        widget=forms.TextInput({"placeholder": "job:12, or a part of its words"}),
    )
    since = MomentField(required=False, label="From, UTC", widget=forms.DateTimeInput({"type": "datetime-local"}))
    until = MomentField(required=False, label="To, UTC", widget=forms.DateTimeInput({"type": "datetime-local"}))

    def __init__(self, data: Mapping[str, str], actions: Sequence[str] = ()) -> None:
        super().__init__(data)
        asked = str(data.get("action", ""))[:60]  # an address may ask for a part, such as job
        choices = [*actions, *([asked] if asked and asked not in actions else [])]
        self.fields["action"].widget.choices = [("", "anything"), *((action, action) for action in choices)]
