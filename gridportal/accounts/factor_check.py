"""Is the second factor right? Asked one at a time of each person, so that guesses sent together are all counted."""

from __future__ import annotations

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from gridportal.accounts import second_factors, security_keys, sign_in
from gridportal.accounts.models import User
from gridportal.accounts.second_factors import Factor

_WRONG_CODE = "This code is wrong, or was used before. Enter the next one."
_WRONG_KEY = "This key is not one of yours, or it answered too late. Try again."


def check_code(request: HttpRequest, person: User, text: str) -> Factor:
    """By which factor the code is right. Raises ValidationError for a wrong one, and after too many of them."""
    return _check(request, person, lambda: second_factors.accept(person, text), _WRONG_CODE)


def check_key(request: HttpRequest, person: User, answer: str) -> Factor:
    """The same of what a security key answered."""
    return _check(request, person, lambda: security_keys.accept_key(person, answer), _WRONG_KEY)


def _check(request: HttpRequest, person: User, prove: Callable[[], Factor | None], wrong: str) -> Factor:
    with transaction.atomic():  # who holds the row counts what is wrong before the next one is looked at
        User.objects.select_for_update().get(pk=person.pk)
        minutes = sign_in.minutes_to_wait_with_code(person, request)
        factor = None if minutes else prove()
        if factor is None and not minutes:
            sign_in.record_wrong_code(person, request)
    if minutes:
        raise ValidationError(f"Too many wrong codes: try again in {minutes} min.", code="wait")
    if factor is None:
        raise ValidationError(wrong, code="wrong")
    return factor
