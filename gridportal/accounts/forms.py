"""Sign-in, second factors, identities elsewhere, and a new API token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import AuthenticationForm, PasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from gridportal.accounts import ldap_sign_in, sign_in, tokens
from gridportal.accounts.audit_text import action_label
from gridportal.accounts.entering import Way
from gridportal.accounts.models import User
from gridportal.accounts.refusals import Refusal, SignInRefusedError
from gridportal.accounts.roles import ALL_ROLES
from gridportal.base.dates import MomentField, backwards
from gridportal.base.time_presets import PRESETS
from gridportal.web.worded_form import NAME_NEEDED, WordedForm


class SignInForm(AuthenticationForm):
    """Username and password, of the LDAP server or of the portal; after five failures from one address it asks to
    wait. `way` is how the person was recognized."""

    way = Way.PASSWORD

    error_messages = {
        "invalid_login": "This username and password do not belong together. Both are case-sensitive.",
        "inactive": "This account has been switched off; ask an administrator.",
        "wait": "Too many failed sign-ins: try again in %(minutes)s min.",
        "no_passwords": "Nobody signs in with a password here.",
    }

    def clean(self) -> dict[str, Any]:
        username = self.cleaned_data.get("username")
        if not username or not self.cleaned_data.get("password"):
            return self.cleaned_data
        minutes = sign_in.minutes_to_wait(username, self._sent)
        if minutes:
            raise ValidationError(self.error_messages["wait"], code="wait", params={"minutes": minutes})
        try:
            if not self._is_in_directory(username, self.cleaned_data["password"]):
                self._check_own_password()
        except ValidationError:
            sign_in.record_failure(username, self._sent)
            raise
        return self.cleaned_data

    def _is_in_directory(self, username: str, password: str) -> bool:
        """Whether it is somebody of the LDAP server. Raises ValidationError for whom the portal does not let in; a
        server that does not answer keeps nobody out who has a password of the portal."""
        try:
            person = ldap_sign_in.person_of(username, password)
        except SignInRefusedError as refused:
            sign_in.record_refusal(refused.person, "LDAP", refused.reason, self._sent)
            if refused.reason is not Refusal.NO_ANSWER:
                raise ValidationError(str(refused), code="refused") from refused
            self.error_messages = self.error_messages | {"invalid_login": str(refused)}
            return False
        if person is None:
            return False
        self.user_cache, self.way = person, Way.LDAP
        return True

    def _check_own_password(self) -> None:
        """Raises ValidationError for a wrong one, and for all of them where the portal takes none."""
        if settings.PORTAL.local_passwords:
            super().clean()
            return
        code = "invalid_login" if ldap_sign_in.is_set() else "no_passwords"
        raise ValidationError(self.error_messages[code], code=code)

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
        help_text="Not ticked: they are revoked, because somebody who knew the old password could have made one.",
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

    def clean(self) -> dict[str, Any]:
        """As Django's; the new password is not the old one."""
        given: dict[str, Any] = super().clean() or self.cleaned_data
        if given.get("old_password") and given["old_password"] == given.get("new_password1"):
            self.add_error("new_password1", "Enter another password than the one that you have now.")
        return given


class CodeForm(WordedForm):
    """A code of a second factor. `of_app`: only the six digits of the app will do, as when it is set up."""

    code = forms.CharField(
        label="Code",
        max_length=20,
        widget=forms.TextInput({"autocomplete": "one-time-code", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={"required": "Enter the code."},
    )

    def __init__(self, data: Any = None, *, of_app: bool = False) -> None:
        super().__init__(data)
        if of_app:
            self.fields["code"].widget.attrs["inputmode"] = "numeric"
            self.fields["code"].help_text = "The six digits that the app shows now."
        else:
            self.fields["code"].help_text = "The six digits of your app, or one of your recovery codes."


class KeyForm(WordedForm):
    """A new security key: its name, and what it answered."""

    name = forms.CharField(
        label="Name of the key",
        max_length=60,
        help_text="By which you know it: blue key, phone.",
        widget=forms.TextInput({"autocomplete": "off"}),
        error_messages={"required": NAME_NEEDED},
    )
    credential = forms.CharField(
        max_length=64_000,
        widget=forms.HiddenInput,
        error_messages={"required": "The key has not answered: press the button, then touch the key."},
    )


class DirectoryForm(WordedForm):
    """Somebody's name and password at the LDAP server."""

    username = forms.CharField(label="Username there", max_length=150, error_messages={"required": NAME_NEEDED})
    password = forms.CharField(
        label="Password there", widget=forms.PasswordInput({"autocomplete": "off"}), strip=False, max_length=1000
    )

    def __init__(self, data: Any = None) -> None:
        super().__init__(data, auto_id="id_directory_%s")


class TokenForm(WordedForm):
    """What the token is for, and for how long."""

    name = forms.CharField(
        max_length=80,
        label="What is it for?",
        error_messages={"required": "Enter what the token is for, such as my laptop."},
    )
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


class InviteForm(WordedForm):
    """Who is invited, with which role."""

    username = forms.CharField(
        label="Username",
        max_length=150,
        widget=forms.TextInput({"autocomplete": "off"}),
        error_messages={"required": NAME_NEEDED},
    )
    role = forms.ChoiceField(label="Role", choices=[(role, role) for role in ALL_ROLES])
    email = forms.EmailField(
        label="E-mail",
        required=False,
        max_length=254,
        widget=forms.TextInput,
        help_text="Where notices may go, and by which single sign-on knows the person. May be empty.",
    )


class AuditFilterForm(WordedForm):
    """The audit page's filters; each is in the address."""

    actor = forms.CharField(required=False, max_length=150, label="Who")
    action = forms.CharField(required=False, max_length=60, label="Did what", widget=forms.Select())
    object = forms.CharField(
        required=False,
        max_length=200,
        label="To what",
        widget=forms.TextInput({"placeholder": "job:12 or a word"}),
    )
    last = forms.ChoiceField(
        label="When",
        required=False,
        choices=[("", "any time"), *((name, words) for name, (words, _) in PRESETS.items())],
    )
    since = MomentField(required=False, label="From, UTC", widget=forms.DateTimeInput({"type": "datetime-local"}))
    until = MomentField(required=False, label="To, UTC", widget=forms.DateTimeInput({"type": "datetime-local"}))

    def __init__(self, data: Mapping[str, str], actions: Sequence[str] = ()) -> None:
        super().__init__(data)
        asked = str(data.get("action", ""))[:60]  # an address may ask for a part, such as job
        choices = [*actions, *([asked] if asked and asked not in actions else [])]
        labels = ((action, action_label(action)) for action in choices)
        self.fields["action"].widget.choices = [("", "anything"), *labels]

    def clean(self) -> None:
        """From lies before To."""
        if problem := backwards(self.cleaned_data.get("since"), self.cleaned_data.get("until")):
            self.add_error("since", problem)
