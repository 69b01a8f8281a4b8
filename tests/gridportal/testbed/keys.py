"""Keys of the kernel, for tests and for the programs of hostile jobs."""

from __future__ import annotations

from typing import Any

STARTERS = b"gridportal-test-of-starter"  # the key of whoever starts a Grid
#: For programs of jobs; libkeyutils comes with Kerberos, so with nearly every system.
CALLS = """
KEYS = ctypes.CDLL("libkeyutils.so.1", use_errno=True)
SESSION = -3
def checked(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result
def add(name, secret):
    return checked(KEYS.add_key(b"user", name, secret, ctypes.c_size_t(len(secret)), SESSION))
def find(name):
    return checked(KEYS.keyctl_search(SESSION, b"user", name, 0))
def request(name):
    return checked(KEYS.request_key(b"user", name, None, 0))
def content(key):
    space = ctypes.create_string_buffer(200)
    size = checked(KEYS.keyctl_read(key, space, ctypes.c_size_t(200)))
    return space.raw[:size]
def link(key):
    return checked(KEYS.keyctl_link(key, SESSION))
def search(ring, name):
    return checked(KEYS.keyctl_search(ring, b"user", name, 0))
def join():
    return checked(KEYS.keyctl_join_session_keyring(None))
"""


def put_into_session(name: bytes, secret: bytes) -> int:
    """Let this process have a new session keyring with one key in it; the key's number."""
    return int(_calls()["join"]() and _calls()["add"](name, secret))


def put_into_users(name: bytes, secret: bytes) -> tuple[int, int]:
    """Let this user's own keyring have a key; the numbers of the keyring and of the key."""
    ring = int(_calls()["checked"](_calls()["KEYS"].keyctl_get_keyring_ID(-4, 1)))
    return ring, int(_calls()["checked"](_calls()["KEYS"].add_key(b"user", name, secret, len(secret), ring)))


def take_from_users(key: int) -> None:
    """Undo that."""
    _calls()["checked"](_calls()["KEYS"].keyctl_unlink(key, -4))


def find(name: bytes) -> int:
    """The number of a key that this process may have."""
    return int(_calls()["find"](name))


def number_of_session() -> int:
    """The number of this process's session keyring."""
    return int(_calls()["checked"](_calls()["KEYS"].keyctl_get_keyring_ID(-3, 0)))


def _calls() -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec("import ctypes, os\n" + CALLS, names)
    return names
