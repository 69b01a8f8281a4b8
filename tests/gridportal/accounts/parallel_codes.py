"""Thirty wrong codes at once, from as many addresses, in a portal of their own; prints how many were looked at."""

from __future__ import annotations

import json
import sys
import threading

import django

COUNT = 30


def main() -> None:
    """Each thread has its own connection, as each request of a server has."""
    django.setup()
    from django.core.exceptions import ValidationError
    from django.db import connection
    from django.test import RequestFactory

    from gridportal.accounts import second_factors
    from gridportal.accounts.factor_check import check_code
    from gridportal.accounts.models import AuditEvent, User

    person = User.objects.create_user("ann")
    looked_at: list[str] = []
    start = threading.Barrier(COUNT)

    def accept(_: User, text: str) -> None:
        looked_at.append(text)

    def guess(number: int) -> None:
        request = RequestFactory(REMOTE_ADDR=f"10.0.0.{number}").post("/sign-in/code")
        start.wait(30)
        try:
            check_code(request, person, f"{number:06}")
        except ValidationError:
            pass
        finally:
            connection.close()

    second_factors.accept = accept
    threads = [threading.Thread(target=guess, args=(number,)) for number in range(COUNT)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    noted = AuditEvent.objects.filter(action="person.second_factor_failed").count()
    sys.stdout.write(json.dumps({"looked_at": len(looked_at), "noted": noted}))


if __name__ == "__main__":
    main()
