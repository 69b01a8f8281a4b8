"""Wrong API tokens are counted by address and refused, once there are too many, before the database is asked."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from redis import RedisError

from gridportal.accounts import wrong_tokens
from gridportal.accounts.services import create_token


@pytest.fixture(autouse=True)
def few(monkeypatch):
    """Three wrong tokens are enough, in a window that does not end under the test."""
    monkeypatch.setattr(wrong_tokens, "LIMIT", 3)
    monkeypatch.setattr(wrong_tokens, "_now", lambda: 1_000_000_005.0)


def ask(text: str, **where: str) -> tuple[int, object]:
    answer = Client(headers={"Authorization": f"Bearer {text}"}, **where).get("/api/me")
    return answer.status_code, answer


def guess(times: int = 3, **where: str) -> None:
    for number in range(times):
        assert ask(f"gp_guess{number}", **where)[0] == 401


def test_after_too_many_nothing_is_looked_up_and_the_wait_is_told(people):
    guess()
    with CaptureQueriesContext(connection) as asked:
        code, answer = ask("gp_more")
    assert code == 429
    assert int(answer["Retry-After"]) == 15, "until the window that began 45 s ago ends"
    assert answer.json()["detail"] == "Too many wrong tokens came from this address. Try again in 15 seconds."
    assert len(asked) == 0


def test_a_new_window_begins_anew(people, monkeypatch):
    guess()
    monkeypatch.setattr(wrong_tokens, "_now", lambda: 1_000_000_005.0 + wrong_tokens.WINDOW)
    assert ask("gp_more")[0] == 401


def test_other_addresses_are_not_made_to_wait_and_one_customers_ipv6_is_one(people):
    guess(REMOTE_ADDR="2001:db8::1")
    assert ask("gp_more", REMOTE_ADDR="2001:db8::2:3")[0] == 429
    assert ask("gp_more", REMOTE_ADDR="2001:db8:0:1::1")[0] == 401
    assert ask("gp_more", REMOTE_ADDR="10.0.0.9")[0] == 401


def test_a_program_at_work_goes_on_beside_one_who_guesses(people):
    _, known = create_token(people["user"], "at work")
    _, fresh = create_token(people["user"], "not used lately")
    assert ask(known)[0] == 200
    guess()
    assert ask(known)[0] == 200
    assert ask(fresh)[0] == 429


def test_a_revoked_token_is_not_let_through_for_having_been_right(people):
    token, text = create_token(people["user"], "gone")
    assert ask(text)[0] == 200
    token.delete()
    guess()
    assert ask(text)[0] == 401


def test_without_our_proxy_a_forged_header_makes_no_new_address(people):
    for number in range(3):
        ask("gp_guess", HTTP_X_FORWARDED_FOR=f"6.6.6.{number}")
    assert ask("gp_guess", HTTP_X_FORWARDED_FOR="6.6.6.9")[0] == 429


def test_behind_our_proxy_its_address_is_not_blamed(people, settings):
    settings.PORTAL = settings.PORTAL.model_copy(update={"secure_cookies": True})
    guess(HTTP_X_FORWARDED_FOR="6.6.6.6")
    assert ask("gp_more", HTTP_X_FORWARDED_FOR="1.1.1.1, 6.6.6.6")[0] == 429
    assert ask("gp_more", HTTP_X_FORWARDED_FOR="7.7.7.7")[0] == 401


def test_strangers_are_counted_by_address_and_not_by_what_they_write(people):
    from gridportal.web.api_limits import StrangerThrottle

    request = type("Request", (), {"META": {"HTTP_X_FORWARDED_FOR": "6.6.6.6"}})
    request._request = Client().get("/healthz", HTTP_X_FORWARDED_FOR="6.6.6.6").wsgi_request
    assert StrangerThrottle().get_ident(request) == "127.0.0.1"


def test_while_the_cache_is_away_each_process_counts_alone(monkeypatch):
    from django.core.cache.backends.redis import RedisCache

    from tests.gridportal.web.test_shared_cache import cache_at

    def away(*_: object, **__: object) -> None:
        raise RedisError("gone")

    for name in ("get", "set", "add", "incr"):
        monkeypatch.setattr(RedisCache, name, away)
    shared = cache_at("redis://127.0.0.1:1/0")
    shared._own.clear()
    monkeypatch.setattr(wrong_tokens, "cache", shared)
    request = type("Request", (), {"META": {"REMOTE_ADDR": "10.0.0.1"}, "headers": {}})
    for _ in range(3):
        assert wrong_tokens.seconds_to_wait(request, "x") == 0
        wrong_tokens.count(request)
    assert wrong_tokens.seconds_to_wait(request, "x") == 15
