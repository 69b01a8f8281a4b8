"""What DATABASE_URL says reaches the database's driver, all of it."""

from __future__ import annotations

import pytest
from django.db.backends.postgresql.base import DatabaseWrapper

from gridportal.settings import _database


def driver_parameters(url: str) -> dict[str, object]:
    """What Django gives to psycopg."""
    wrapper = DatabaseWrapper({**_defaults(), **_database(url)})
    return wrapper.get_connection_params()


def _defaults() -> dict[str, object]:
    return {"TIME_ZONE": None, "OPTIONS": {}, "TEST": {}, "AUTOCOMMIT": True, "ATOMIC_REQUESTS": False}


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ann:p%40ss@db:5433/portal", {"user": "ann", "password": "p@ss", "host": "db", "port": 5433}),
        ("postgres://ann@%2Frun%2Fpg/portal", {"user": "ann", "host": "/run/pg"}),
        ("postgresql:///portal?host=/run/a%20b&port=5440", {"host": "/run/a b", "port": 5440}),
        (
            "postgresql://db/portal?sslmode=verify-full&sslrootcert=/etc/ca.pem",
            {
                "sslmode": "verify-full",
                "sslrootcert": "/etc/ca.pem",
            },
        ),
        ("postgresql://db/portal?connect_timeout=5", {"connect_timeout": 5}),
        ("postgresql://db/portal", {"options": "-c random_page_cost=1.1 -c jit=off"}),
        ("postgresql://db/portal?options=-c%20jit%3Don", {"options": "-c random_page_cost=1.1 -c jit=off -c jit=on"}),
    ],
)
def test_every_part_of_the_address_reaches_the_driver(url: str, expected: dict[str, object]) -> None:
    found = driver_parameters(url)
    assert {name: found[name] for name in expected} == expected
    assert found["dbname"] == "portal"


def test_connections_are_kept_and_looked_at_before_they_are_used_again() -> None:
    found = _database("postgresql://db/portal")
    assert (found["CONN_MAX_AGE"], found["CONN_HEALTH_CHECKS"]) == (60, True)
