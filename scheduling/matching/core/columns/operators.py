"""Operators of the ClassAd language on columns, as HTCondor's library has them: three-valued, whole and real numbers.

Tables by the kinds of both sides say what kind a result has. What the library does with numbers without end is left to
it.
Source of the rules: classad2 25.14, tried value by value and held to it by a fuzz test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scheduling.matching.core.columns.column import (
    BOOL,
    ERROR,
    INT,
    KINDS,
    NO_INTS,
    NO_REALS,
    NO_TEXTS,
    OTHER,
    REAL,
    TEXT,
    UNDEFINED,
    Column,
    Kinds,
    UnsupportedError,
    fold,
)

Table = NDArray[np.uint8]
SMALLEST = -(2**63)


def _table(result: Callable[[int, int], int]) -> Table:
    return np.array([[result(left, right) for right in range(KINDS)] for left in range(KINDS)], np.uint8)


def _strict(left: int, right: int) -> int | None:
    """Of operators that want a value on both sides: error before undefined."""
    if ERROR in (left, right):
        return ERROR
    return UNDEFINED if UNDEFINED in (left, right) else None


def _arithmetic(left: int, right: int) -> int:
    if (strict := _strict(left, right)) is not None:
        return strict
    if TEXT in (left, right) or OTHER in (left, right):
        return ERROR
    return REAL if REAL in (left, right) else INT


def _bits(left: int, right: int) -> int:
    if (strict := _strict(left, right)) is not None:
        return strict
    return INT if left == right == INT else ERROR


def _modulo(left: int, right: int) -> int:
    kind = _arithmetic(left, right)
    return ERROR if kind == REAL else kind


def _comparison(left: int, right: int) -> int:
    if (strict := _strict(left, right)) is not None:
        return strict
    if left == right == TEXT:
        return TEXT  # of the comparison itself; the result is a truth value
    return ERROR if _arithmetic(left, right) == ERROR else REAL if REAL in (left, right) else INT


_ARITHMETIC, _BITS, _MODULO, _COMPARISON = map(_table, (_arithmetic, _bits, _modulo, _comparison))
_TRUE, _FALSE = 7, 8


def _conjunction(left: int, right: int) -> int:
    """Kinds and, for truth values and numbers, _TRUE and _FALSE."""
    if left in (_FALSE, ERROR):
        return left
    if right == ERROR:
        return ERROR
    if right == _FALSE:
        return _FALSE
    return UNDEFINED if UNDEFINED in (left, right) else _TRUE


def _logic_table(result: Callable[[int, int], int]) -> Table:
    return np.array([[result(left, right) for right in range(9)] for left in range(9)], np.uint8)


_OPPOSITE = {_TRUE: _FALSE, _FALSE: _TRUE}
_AND = _logic_table(_conjunction)
_OR = _logic_table(
    lambda left, right: (lambda kind: _OPPOSITE.get(kind, kind))(
        _conjunction(_OPPOSITE.get(left, left), _OPPOSITE.get(right, right))
    )
)


def _logical_kinds(column: Column) -> Kinds:
    """_TRUE and _FALSE for truth values and numbers, undefined, and error for all else."""
    kinds = column.kinds
    result = np.where((kinds == TEXT) | (kinds == OTHER), np.uint8(ERROR), kinds)
    is_number = (kinds >= BOOL) & (kinds <= REAL)
    return np.where(is_number, np.where(column.truths, np.uint8(_TRUE), np.uint8(_FALSE)), result).astype(np.uint8)


def logical(op: str, left: Column, right: Column) -> Column:
    """`&&` and `||`: the left side decides first, an error on it is one."""
    outcome = (_AND if op == "&&" else _OR)[_logical_kinds(left), _logical_kinds(right)]
    return truths_of(outcome == _TRUE, np.where(outcome >= _TRUE, np.uint8(BOOL), outcome))


def truths_of(truths: NDArray[np.bool_], kinds: Kinds) -> Column:
    """A column of truth values where the kind is that."""
    if len(kinds) > 1 and (kinds == kinds[0]).all():
        kinds = kinds[:1]
    return Column(kinds.astype(np.uint8), truths.astype(np.int64))


def arithmetic(op: str, left: Column, right: Column) -> Column:
    """`+ - * / %`. Raises UnsupportedError where a result has no end."""
    kinds = (_MODULO if op == "%" else _ARITHMETIC)[left.kinds, right.kinds]
    ints, reals = NO_INTS, NO_REALS
    has_int, has_real = bool((kinds == INT).any()), bool((kinds == REAL).any())
    with np.errstate(all="ignore"):
        if has_int:
            ints, kinds = _whole(op, left, right, kinds)
        if has_real:
            reals, kinds = _real(op, left, right, kinds)
    return Column(kinds, ints, reals)


def _whole(op: str, left: Column, right: Column, kinds: Kinds) -> tuple[NDArray[np.int64], Kinds]:
    first, second = left.ints, right.ints
    if op == "+":
        return first + second, kinds
    if op == "-":
        return first - second, kinds
    if op == "*":
        return first * second, kinds
    is_zero = second == 0
    safe = np.where(is_zero, 1, second)
    if bool(((first == SMALLEST) & (kinds == INT)).any()):
        raise UnsupportedError("the smallest whole number divided")
    quotient = np.abs(first) // np.abs(safe)
    quotient = np.where((first < 0) != (safe < 0), -quotient, quotient)
    result = quotient if op == "/" else first - quotient * safe
    if is_zero.any():
        kinds = np.where(is_zero & (kinds == INT), np.uint8(ERROR), kinds)
    return result, kinds


def _real(op: str, left: Column, right: Column, kinds: Kinds) -> tuple[NDArray[np.float64], Kinds]:
    first, second = left.as_reals, right.as_reals
    if op == "+":
        result = first + second
    elif op == "-":
        result = first - second
    elif op == "*":
        result = first * second
    else:
        result = first / second
    if not np.isfinite(result).all():
        is_real = kinds == REAL
        if bool((is_real & (np.isnan(result) | (result == -np.inf))).any()):
            raise UnsupportedError("a number without end")
        too_large = is_real & (result == np.inf)
        kinds = np.where(too_large, np.uint8(ERROR), kinds)
    return result, kinds


_BIT: dict[str, Callable[[Any, Any], Any]] = {"&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}


def bits(op: str, left: Column, right: Column) -> Column:
    """`& | ^ << >> >>>`, of whole numbers."""
    kinds = _BITS[left.kinds, right.kinds]
    if op in _BIT:
        return Column(kinds, _BIT[op](left.ints, right.ints))
    shift = right.ints
    if bool(((kinds == INT) & ((shift < 1) | (shift > 63))).any()):
        raise UnsupportedError("a shift by nothing, or by a word and more")
    shift = shift & 63
    if op == "<<":
        return Column(kinds, np.left_shift(left.ints, shift))
    if op == ">>":
        return Column(kinds, np.right_shift(left.ints, shift))
    return Column(kinds, np.right_shift(left.ints.view(np.uint64), shift.view(np.uint64)).view(np.int64))


_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def comparison(op: str, left: Column, right: Column) -> Column:
    """`== != < <= > >=`: texts without regard to the size of letters, numbers by value."""
    compare = _COMPARE[op]
    by = _COMPARISON[left.kinds, right.kinds]
    truths = np.zeros(1, bool)
    if (by == INT).any():
        truths = compare(left.ints, right.ints)
    if (by == REAL).any():
        of_reals = compare(left.as_reals, right.as_reals)
        truths = of_reals if len(by) == 1 else np.where(by == REAL, of_reals, truths)
    if (by == TEXT).any():
        of_texts = _compare_texts(op, left, right)
        truths = of_texts if len(by) == 1 else np.where(by == TEXT, of_texts, truths)
    return truths_of(truths, np.where(by >= INT, np.uint8(BOOL), by))


def _compare_texts(op: str, left: Column, right: Column) -> NDArray[np.bool_]:
    if len(right.texts) == 1:
        return _compare_with(op, left, fold(right.texts[0]))
    if len(left.texts) == 1:
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(op, op)
        return _compare_with(mirrored, right, fold(left.texts[0]))
    compare = _COMPARE[op]
    pairs = zip(left.texts.tolist(), right.texts.tolist(), strict=True)
    return np.array([bool(compare(_key(fold(a)), _key(fold(b)))) for a, b in pairs], bool)


def _compare_with(op: str, column: Column, text: str) -> NDArray[np.bool_]:
    """By the index of the column: each text that stands there is compared once."""
    codes, stands = column.folded
    key = _key(text)
    outcome = np.array([bool(_COMPARE[op](_key(each), key)) for each in stands], bool)
    return outcome[codes] if len(codes) > 1 else outcome[codes[:1]]


def _key(text: str) -> bytes:
    return text.encode("utf-8")


def identity(op: str, left: Column, right: Column) -> Column:
    """`is` and `isnt`: of one kind and equal, texts to the letter; two lists or ads are an error."""
    same = left.kinds == right.kinds
    kind = np.where(same, left.kinds, np.uint8(UNDEFINED))
    equal = np.array(same)
    if (same & ((kind == INT) | (kind == BOOL))).any():
        equal = np.where((kind == INT) | (kind == BOOL), same & (left.ints == right.ints), equal)
    if (same & (kind == REAL)).any():
        equal = np.where(kind == REAL, same & (left.reals == right.reals), equal)
    if (same & (kind == TEXT)).any():
        alike = np.array(left.texts == right.texts, bool)
        equal = np.where(kind == TEXT, same & alike, equal)
    is_error = same & (kind == OTHER)
    truths = equal if op == "is" else ~equal
    return truths_of(truths, np.where(is_error, np.uint8(ERROR), np.uint8(BOOL)))


def unary(op: str, operand: Column) -> Column:
    """`- + ! ~`."""
    kinds = operand.kinds
    if op == "!":
        logic = _logical_kinds(operand)
        return truths_of(logic == _FALSE, np.where(logic >= _TRUE, np.uint8(BOOL), logic))
    allowed = (kinds == UNDEFINED) | (kinds == INT) | ((kinds == REAL) & (op != "~"))
    kinds = np.where(allowed, kinds, np.uint8(ERROR))
    if op == "+":
        return Column(kinds, operand.ints, operand.reals)
    return Column(kinds, ~operand.ints if op == "~" else -operand.ints, -operand.reals)


def where(condition: NDArray[np.bool_], yes: Column, no: Column) -> Column:
    """The value of `yes` where the condition holds, else that of `no`."""
    if len(condition) == 1:
        return yes if condition[0] else no
    kinds = np.where(condition, yes.kinds, no.kinds)
    ints = NO_INTS if yes.ints is NO_INTS and no.ints is NO_INTS else np.where(condition, yes.ints, no.ints)
    reals = NO_REALS if yes.reals is NO_REALS and no.reals is NO_REALS else np.where(condition, yes.reals, no.reals)
    texts = NO_TEXTS if yes.texts is NO_TEXTS and no.texts is NO_TEXTS else np.where(condition, yes.texts, no.texts)
    return Column(kinds, ints, reals, texts)


def choice(condition: Column, yes: Column, no: Column) -> Column:
    """`condition ? yes : no`: undefined where the condition is, an error where it is no truth value."""
    logic = _logical_kinds(condition)
    result = where(logic == _TRUE, yes, no)
    if (logic == UNDEFINED).any():
        result = where(logic == UNDEFINED, Column.without_value(UNDEFINED), result)
    return where(logic == ERROR, Column.without_value(ERROR), result) if (logic == ERROR).any() else result


def instead_of_undefined(value: Column, other: Column) -> Column:
    """`value ?: other`."""
    return where(value.kinds == UNDEFINED, other, value)
