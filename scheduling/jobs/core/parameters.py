"""An application's parameters: typed, limited, and put into its command line without any shell.

A parameter is registered as {"name", "label", "type", "choices" | "min" | "max" | "pattern" | "max_length",
"default", "help"}; its type is choice, int, float, text or bool. A command is an argument list in which {name}
stands for a parameter: every list item stays one argument, whatever a person typed.
"""

from __future__ import annotations

import math
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from gridportal.base.accepted_values import NUMBER, WHOLE_NUMBER, between, one_of, text_of
from gridportal.base.errors import InputError
from scheduling.jobs.core import safe_pattern

Type = Literal["choice", "int", "float", "text", "bool"]
Value = str | int | float | bool

_TYPES: dict[str, Type] = {
    "choice": "choice",
    "int": "int",
    "integer": "int",
    "float": "float",
    "number": "float",
    "text": "text",
    "bool": "bool",
    "boolean": "bool",
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
_PLACEHOLDER = re.compile(r"\{([^{}\s\"':,]*)\}")
_TRUE, _FALSE = {"true", "1", "on", "yes"}, {"false", "0", "off", "no", ""}
MAX_TEXT = 200
MAX_PARAMETERS, MAX_CHOICES, MAX_LABEL, MAX_HELP = 50, 200, 120, 1000
MAX_WORDS, MAX_WORD = 64, 4096
#: Placeholders that the portal fills in itself.
BUILT_IN = frozenset({"python", "ranks", "run_dir", "shares"})


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of an application. `low` and `high` bound numbers, `pattern` and `max_length` text."""

    name: str
    type: Type
    label: str = ""
    help: str = ""
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    pattern: str = ""
    max_length: int = MAX_TEXT
    default: Value | None = None

    @property
    def required(self) -> bool:
        """Whether a person must give it: there is no default."""
        return self.default is None

    def accepted(self) -> str:
        """What it takes, in words that end an InputError."""
        if self.type == "choice":
            return one_of(self.choices)
        if self.type == "bool":
            return "true or false"
        if self.type == "text":
            if self.pattern:
                most = min(self.max_length, safe_pattern.MAX_TEXT)
                return f"at most {most} printable characters that match {self.pattern}"
            return f"at most {self.max_length} printable characters that do not start with a dash"
        return between(WHOLE_NUMBER if self.type == "int" else NUMBER, self.low, self.high)

    def read(self, raw: object) -> Value:
        """The typed value of what a person gave; InputError named after the parameter when it will not do."""
        value = _READERS[self.type](self, raw)
        if value is None:
            raise InputError(self.name, raw, self.accepted())
        return value


def parse(raw: object) -> tuple[Parameter, ...]:
    """The registered parameters; InputError points at the entry that is wrong.

    >>> parse([{"name": "class", "type": "choice", "choices": ["S", "W"], "default": "S"}])[0].read("W")
    'W'
    """
    if not isinstance(raw, list):
        raise InputError("parameters", raw, "a list of objects with name and type")
    if len(raw) > MAX_PARAMETERS:
        raise InputError("parameters", f"{len(raw)} of them", f"at most {MAX_PARAMETERS}")
    parameters = tuple(_parameter(entry, f"parameters[{index}]") for index, entry in enumerate(raw))
    names = [parameter.name for parameter in parameters]
    for name in names:
        if names.count(name) > 1:
            raise InputError("parameters", name, "a name that no other parameter has")
    return parameters


def type_of(entry: Mapping[str, Any]) -> str:
    """The type of a registered parameter by its usual name.

    >>> type_of({"name": "size", "type": "integer"})
    'int'
    """
    return _TYPES.get(str(entry.get("type")), str(entry.get("type")))


def validate(parameters: Sequence[Parameter], given: Mapping[str, object]) -> dict[str, Value]:
    """One typed value per parameter: what was given, else the default. Raises InputError.

    >>> validate(parse([{"name": "n", "type": "int", "min": 1, "max": 9, "default": 3}]), {"n": "4"})
    {'n': 4}
    """
    names = {parameter.name for parameter in parameters}
    for name in given:
        if name not in names:
            accepted = (
                f"one of {', '.join(sorted(names))}" if names else "nothing, for this application has no parameters"
            )
            raise InputError("parameters", name, accepted)
    values: dict[str, Value] = {}
    for parameter in parameters:
        raw = given.get(parameter.name)
        missing = raw is None or (raw == "" and parameter.type not in ("text", "bool"))
        if missing and parameter.default is not None:
            values[parameter.name] = parameter.default
        else:
            values[parameter.name] = parameter.read(raw)
    return values


def check_command(command: object, names: Iterable[str]) -> tuple[str, ...]:
    """A registered command: a non-empty list of strings whose placeholders are all known. Raises InputError."""
    if not isinstance(command, list) or not command or not all(isinstance(item, str) for item in command):
        raise InputError("command", command, "a list of words, the program first")
    if len(command) > MAX_WORDS or any(len(item) > MAX_WORD for item in command):
        longest = max(map(len, command))
        accepted = f"at most {MAX_WORDS} words of at most {MAX_WORD} characters"
        raise InputError("command", f"{len(command)} words, the longest of {longest} characters", accepted)
    placeholders = BUILT_IN | set(names)
    for item in command:
        if _has_control(item):
            raise InputError("command", item, "words without control characters")
        for name in _PLACEHOLDER.findall(item):
            if name not in placeholders:
                raise InputError(
                    "command", "{" + name + "}", "one of " + ", ".join(sorted(placeholders)) + " in braces"
                )
    if not command[0]:
        raise InputError("command", "", "a program as its first word")
    return tuple(command)


def wants_shares(command: Sequence[str]) -> bool:
    """Whether a command names the shares of its ranks.

    >>> wants_shares(["wave", "--shares={shares}"]), wants_shares(["wave"])
    (True, False)
    """
    return any("shares" in _PLACEHOLDER.findall(item) for item in command)


def render(command: Sequence[str], values: Mapping[str, Value]) -> list[str]:
    """The command with every {name} replaced by its value, once: a value that looks like a placeholder stays text.

    >>> render(["cg", "--class={class}", "{note}"], {"class": "S", "note": "a b; rm {class}"})
    ['cg', '--class=S', 'a b; rm {class}']
    """

    def replaced(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise InputError("command", match[0], "a placeholder that names a parameter")
        return _text(values[match[1]])

    return [_PLACEHOLDER.sub(replaced, item) for item in command]


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def _parameter(raw: Any, where: str) -> Parameter:
    if not isinstance(raw, dict):
        raise InputError(where, raw, "an object with name and type")
    name = raw.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in BUILT_IN:
        raise InputError(
            f"{where}.name", name, "a word of letters, digits, _ and - other than " + ", ".join(sorted(BUILT_IN))
        )
    kind = _TYPES.get(str(raw.get("type", "text")))
    if kind is None:
        raise InputError(f"{where}.type", raw.get("type"), "choice, int, float, text or bool")
    parameter = Parameter(
        name=name,
        type=kind,
        label=_short_text(raw.get("label") or name, f"{where}.label", MAX_LABEL),
        help=_short_text(raw.get("help") or "", f"{where}.help", MAX_HELP),
        choices=_choices(raw.get("choices"), where) if kind == "choice" else (),
        low=_bound(raw.get("min"), f"{where}.min"),
        high=_bound(raw.get("max"), f"{where}.max"),
        pattern=_pattern(raw.get("pattern"), f"{where}.pattern"),
        max_length=_length(raw.get("max_length"), f"{where}.max_length"),
    )
    if parameter.low is not None and parameter.high is not None and parameter.low > parameter.high:
        raise InputError(f"{where}.min", parameter.low, f"at most max, which is {parameter.high:g}")
    return _with_default(parameter, raw.get("default"), where)


def _with_default(parameter: Parameter, default: object, where: str) -> Parameter:
    if default is None:
        return parameter
    try:
        value = parameter.read(default)
    except InputError as error:
        raise InputError(f"{where}.default", default, parameter.accepted()) from error
    fields = {name: getattr(parameter, name) for name in Parameter.__slots__}
    return Parameter(**{**fields, "default": value})


def _choices(raw: object, where: str) -> tuple[str, ...]:
    if not isinstance(raw, list) or not raw or not all(isinstance(c, str | int | float) and str(c) for c in raw):
        raise InputError(f"{where}.choices", raw, "a list of at least one word or number")
    choices = tuple(str(choice) for choice in raw)
    if len(choices) > MAX_CHOICES or any(_has_control(choice) or len(choice) > MAX_TEXT for choice in choices):
        accepted = f"at most {MAX_CHOICES} words of at most {MAX_TEXT} characters, none of them a control character"
        raise InputError(f"{where}.choices", raw, accepted)
    return choices


def _short_text(raw: object, where: str, most: int) -> str:
    if not isinstance(raw, str) or len(raw) > most:
        raise InputError(where, raw, text_of(most))
    return raw


def _bound(raw: object, where: str) -> float | None:
    if raw is None or raw == "":
        return None
    if isinstance(raw, bool) or not isinstance(raw, int | float) or not abs(raw) <= sys.float_info.max:
        raise InputError(where, raw, "a number that is not too large for a computer")
    return float(raw)


def _length(raw: object, where: str) -> int:
    if raw is None:
        return MAX_TEXT
    if isinstance(raw, bool) or not isinstance(raw, int) or not 1 <= raw <= 4096:
        raise InputError(where, raw, "a whole number from 1 to 4096")
    return raw


def _pattern(raw: object, where: str) -> str:
    return "" if raw is None or raw == "" else safe_pattern.check(str(raw), where)


def _read_choice(parameter: Parameter, raw: object) -> str | None:
    text = str(raw) if isinstance(raw, str | int | float) and not isinstance(raw, bool) else ""
    return text if text in parameter.choices else None


def _read_int(parameter: Parameter, raw: object) -> int | None:
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    text = str(raw).strip()
    if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
        return None
    return int(text) if _within(parameter, int(text)) else None


def _read_float(parameter: Parameter, raw: object) -> float | None:
    if isinstance(raw, bool) or not isinstance(raw, int | float | str) or len(str(raw)) > 40:
        return None
    try:
        value = float(raw)
    except ValueError:
        return None
    return value if math.isfinite(value) and _within(parameter, value) else None


def _read_text(parameter: Parameter, raw: object) -> str | None:
    text = "" if raw is None else raw
    if not isinstance(text, str) or len(text) > parameter.max_length or _has_control(text):
        return None
    if parameter.pattern:
        if len(text) > safe_pattern.MAX_TEXT:
            return None
        return text if re.fullmatch(parameter.pattern, text) else None
    # A leading dash would be read as an option by the program, so only an explicit pattern may allow it.
    return None if text.startswith("-") else text


def _read_bool(parameter: Parameter, raw: object) -> bool | None:
    if raw is None or isinstance(raw, bool):
        return bool(raw)
    word = str(raw).strip().lower()
    return True if word in _TRUE else False if word in _FALSE else None


def _within(parameter: Parameter, value: float) -> bool:
    low = -math.inf if parameter.low is None else parameter.low
    high = math.inf if parameter.high is None else parameter.high
    return low <= value <= high


def _has_control(text: str) -> bool:
    return any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in text)


_READERS = {
    "choice": _read_choice,
    "int": _read_int,
    "float": _read_float,
    "text": _read_text,
    "bool": _read_bool,
}
