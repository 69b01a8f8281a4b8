"""The LDAP server: who somebody is there, and whether a password is theirs. No Django.

Source: RFC 4513 (authentication), RFC 4515 (what is escaped in filters), RFC 4530 (entryUUID).
"""

from __future__ import annotations

import math
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from gridportal.base.errors import GridPortalError

_UUID = ("entryUUID", "objectGUID")  # OpenLDAP's and Active Directory's
_MAIL = "mail"


class DirectoryError(GridPortalError):
    """The server does not answer, or not as it is asked to; says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A person of the directory. `subject` stays when the entry is renamed; `groups` by cn and by whole name, both in
    small letters."""

    dn: str
    subject: str
    username: str
    email: str
    groups: frozenset[str]


@dataclass(frozen=True, slots=True)
class Directory:
    """Where to ask, and how. `password` is in no text of this."""

    url: str
    base: str
    username_attribute: str = "uid"
    person_filter: str = "(objectClass=person)"
    group_base: str = ""
    bind_dn: str = ""
    password: str = field(default="", repr=False)
    ca_file: Path | None = None
    timeout: float = 5.0

    def find(self, username: str) -> Entry | None:
        """The one person of this name; None for nobody, and for two of them. Raises DirectoryError."""
        with self._connected() as connection:
            rows = self._people(connection, username)
            return self._entry(connection, rows[0]) if len(rows) == 1 else None

    def accepts(self, entry: Entry, password: str) -> bool:
        """Whether the password is this person's. An empty one never is: servers take it for nobody in particular."""
        if not password:
            return False
        with self._connected(entry.dn, password) as connection:
            return bool(connection.bound)

    def count_people(self, most: int = 1000) -> int:
        """How many people there are, `most` at most. Raises DirectoryError."""
        with self._connected() as connection:
            return len(self._search(connection, self.base, self.person_filter, [self.username_attribute], most))

    @property
    def _whole_seconds(self) -> int:
        return math.ceil(self.timeout)

    @contextmanager
    def _connected(self, dn: str = "", password: str = "") -> Iterator[Any]:
        """A connection as `dn`, which may be refused, or as who looks people up, which must not be."""
        import ldap3
        from ldap3.core.exceptions import LDAPException

        of_service = not dn
        try:
            connection = ldap3.Connection(
                self._server(),
                user=(dn or self.bind_dn) or None,
                password=(password if dn else self.password) or None,
                receive_timeout=self._whole_seconds,
                check_names=False,
                auto_referrals=False,
            )
            connection.open()
            if urlsplit(self.url).scheme == "ldap+starttls":
                connection.start_tls()
            connection.bind()
            if of_service and connection.result["result"]:
                who = self.bind_dn or "anybody"
                raise DirectoryError(f"The server does not let {who} look people up ({_why(connection)}).")
            yield connection
            connection.unbind()
        except (LDAPException, OSError, ssl.SSLError) as error:
            raise DirectoryError(f"{self.url} does not answer: {_first_line(error)}") from error

    def _server(self) -> Any:
        import ldap3

        parts = urlsplit(self.url)
        sealed = parts.scheme == "ldaps"
        tls = ldap3.Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=str(self.ca_file) if self.ca_file else None)
        return ldap3.Server(
            parts.hostname,
            port=parts.port or (636 if sealed else 389),
            use_ssl=sealed,
            tls=tls,
            get_info=ldap3.NONE,
            connect_timeout=self.timeout,
        )

    def _people(self, connection: Any, username: str) -> list[Any]:
        from ldap3.utils.conv import escape_filter_chars

        where = f"(&{self.person_filter}({self.username_attribute}={escape_filter_chars(username)}))"
        return self._search(connection, self.base, where, [self.username_attribute, _MAIL, "memberOf", *_UUID], 2)

    def _entry(self, connection: Any, row: Any) -> Entry:
        attributes = row["attributes"]
        username = _texts(attributes.get(self.username_attribute))[0]
        uuid = next((text for name in _UUID for text in _texts(attributes.get(name))), row["dn"].casefold())
        mail = _texts(attributes.get(_MAIL))
        groups = {*_texts(attributes.get("memberOf")), *self._groups(connection, row["dn"], username)}
        return Entry(row["dn"], uuid, username, mail[0] if mail else "", frozenset(_names(groups)))

    def _groups(self, connection: Any, dn: str, username: str) -> list[str]:
        """The whole names of the groups that name this person."""
        from ldap3.utils.conv import escape_filter_chars

        if not self.group_base:
            return []
        whole, short = escape_filter_chars(dn), escape_filter_chars(username)
        where = f"(|(member={whole})(uniqueMember={whole})(memberUid={short}))"
        return [row["dn"] for row in self._search(connection, self.group_base, where, ["cn"], 1000)]

    def _search(self, connection: Any, base: str, where: str, attributes: list[str], most: int) -> list[Any]:
        """The entries below `base`. Raises DirectoryError."""
        connection.search(base, where, attributes=attributes, size_limit=most, time_limit=self._whole_seconds)
        if connection.result["result"] not in (0, 4):  # 4: there are more than `most`
            raise DirectoryError(f"The server does not search {base} ({_why(connection)}).")
        return [row for row in connection.response or () if row["type"] == "searchResEntry"]


def _texts(value: object) -> list[str]:
    """The values of an attribute as text; bytes that are none as hexadecimal digits."""
    values = value if isinstance(value, list) else [value] if value not in (None, b"", "") else []
    return [_text(each) for each in values]


def _text(value: object) -> str:
    if not isinstance(value, bytes):
        return str(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()


def _names(groups: set[str]) -> Iterator[str]:
    """Each group by its whole name and by the first part of it.

    >>> sorted(_names({"CN=HPC Admins,ou=groups,dc=x"}))
    ['cn=hpc admins,ou=groups,dc=x', 'hpc admins']
    """
    from ldap3.utils.dn import parse_dn

    for whole in groups:
        yield whole.casefold()
        yield str(parse_dn(whole)[0][1]).casefold()


def _why(connection: Any) -> str:
    result = connection.result
    return f"{result['description']}{': ' if result['message'] else ''}{result['message']}"


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]
