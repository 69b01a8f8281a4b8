"""Which version of a thing a form showed: with it a second save does not undo the first one unseen.

A form carries a short digest of each value that it was filled with. What somebody else has changed since is told by
name; a form without the field, an old page or a client of one's own, is taken as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, urlencode

#: The name of the hidden field.
SHOWN_VERSION = "shown_version"
#: Hexadecimal digits of each digest: two values of one field are the same once in 2^40.
_DIGITS = 10


def version_of(values: Mapping[str, Any]) -> str:
    """What the hidden field holds: name and digest of each value.

    >>> version_of({"name": "ocean", "members": ["ann"]})
    'name=00152633a5&members=9709202e09'
    """
    return urlencode({name: _digest(value) for name, value in values.items()})


def changed_names(shown: str, values: Mapping[str, Any]) -> tuple[str, ...]:
    """The names whose value is not the one that was shown; names that were not shown are left out.

    >>> shown = version_of({"name": "ocean", "members": ["ann"]})
    >>> changed_names(shown, {"name": "ocean", "members": ["bob"], "color": "red"})
    ('members',)
    >>> changed_names("", {"name": "ocean"})
    ()
    """
    seen = dict(parse_qsl(shown))
    return tuple(name for name, value in values.items() if name in seen and seen[name] != _digest(value))


def was_shown(shown: str, name: str, value: Any, otherwise: Any) -> bool:
    """Whether a form showed this value under a name, or `otherwise` where it had none of that name.

    >>> shown = version_of({"n1": "fast"})
    >>> was_shown(shown, "n1", "fast", ""), was_shown(shown, "n2", "", ""), was_shown(shown, "n2", "slow", "")
    (True, True, False)
    """
    return dict(parse_qsl(shown)).get(name, _digest(otherwise)) == _digest(value)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
