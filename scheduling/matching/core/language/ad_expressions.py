"""One expression of the ClassAd language, by the precedence of its operators."""

from __future__ import annotations

from collections.abc import Set

from scheduling.matching.core.language.ad_errors import AdError
from scheduling.matching.core.language.ad_syntax import (
    Attribute,
    Binary,
    Call,
    Choice,
    Expression,
    Index,
    ListOf,
    Literal,
    Name,
    Record,
    Scope,
    Select,
    Special,
    Unary,
)
from scheduling.matching.core.language.ad_tokens import LARGEST, Token, TokenStream

#: Brackets of any kind inside each other; HTCondor's library takes some hundred.
DEEPEST = 40
#: Operators behind each other without brackets; it evaluates some four hundred.
LONGEST_CHAIN = 150

#: The operators, those that bind least first.
_LEVELS = "|| && | ^ & ==,!=,is,isnt <,<=,>,>= <<,>>,>>> +,- *,/,%"
PRECEDENCE = {
    operator: level for level, operators in enumerate(_LEVELS.split(), 1) for operator in operators.split(",")
}
_SAME = {"=?=": "is", "=!=": "isnt"}
_CONSTANTS: dict[str, bool | Special] = {
    "true": True,
    "false": False,
    "undefined": Special.UNDEFINED,
    "error": Special.ERROR,
}
_SCOPES = {"my": Scope.MY, "self": Scope.MY, "other": Scope.OTHER, "target": Scope.OTHER}
_NO_NAMES = {"is", "isnt", "parent"}
_VALUE = "a value: a number, a text in quotes, a name, or what stands in brackets"


class ExpressionReader:
    """Reads expressions of a text from a place on. `scaled`: the numbers with a scale."""

    def __init__(self, text: str, at: int = 0, stop: int | None = None, hyphenated: Set[str] = frozenset()) -> None:
        self.text = text
        self.stream = TokenStream(text, at, stop, hyphenated)
        self.scaled: list[Token] = []
        self._depth = 0

    def expression(self) -> Expression:
        """Up to what cannot go on with it. Raises AdError.

        >>> ExpressionReader("1 + 2 * 3").expression().right.op
        '*'
        """
        start = self.stream.next.start
        self._depth += 1
        if self._depth > DEEPEST:
            raise AdError(self.text, start, f"at most {DEEPEST} brackets inside each other")
        condition = self._binary(1)
        result = condition
        if self.stream.next.is_sign("?"):
            self.stream.take()
            yes = self.expression()
            self._expect(":", ": and what holds otherwise")
            result = Choice(condition, yes, self.expression(), start=start, end=self.stream.last_end)
        self._depth -= 1
        return result

    def _binary(self, lowest: int) -> Expression:
        left, count = self._unary(), 0
        start = left.start
        while True:
            operator = self._operator()
            level = PRECEDENCE.get(operator, 0)
            if level < lowest:
                return left
            count += 1
            if count > LONGEST_CHAIN:
                raise AdError(self.text, self.stream.next.start, f"at most {LONGEST_CHAIN} operators in a row")
            self.stream.take()
            left = Binary(operator, left, self._binary(level + 1), start=start, end=self.stream.last_end)

    def _operator(self) -> str:
        token = self.stream.next
        text = str(token.value)
        if token.kind == "name":
            return text.lower() if text.lower() in ("is", "isnt") else ""
        return _SAME.get(text, text) if token.kind == "sign" else ""

    def _unary(self) -> Expression:
        signs: list[Token] = []
        while self.stream.next.is_sign("-", "+", "!", "~"):
            signs.append(self.stream.take())
            if len(signs) > DEEPEST:
                raise AdError(self.text, signs[-1].start, f"at most {DEEPEST} signs in a row")
        token = self.stream.next
        is_number = token.kind == "number"
        if is_number and signs and signs[-1].value == "-":
            self._number(self.stream.take(), is_negative=True)
            base: Expression = Literal(-token.number, start=signs.pop().start, end=token.end)
        else:
            base = self._primary()
        operand = self._or_other(self._parts(base))
        for sign in reversed(signs):
            operand = Unary(str(sign.value), operand, start=sign.start, end=self.stream.last_end)
        return operand

    def _or_other(self, value: Expression) -> Expression:
        """`value ?: other`, which binds tighter than any other operator; a sign behind it needs brackets."""
        count = 0
        while self.stream.next.is_sign("?:"):
            count += 1
            if count > DEEPEST:
                raise AdError(self.text, self.stream.next.start, f"at most {DEEPEST} ?: in a row")
            self.stream.take()
            other = self._parts(self._primary())
            value = Choice(value, None, other, start=value.start, end=self.stream.last_end)
        return value

    def _number(self, token: Token, *, is_negative: bool) -> Literal:
        if token.value == LARGEST + 1 and not is_negative:
            raise AdError(self.text, token.start, f"a whole number up to {LARGEST}")
        if token.scaled:
            self.scaled.append(token)
        return Literal(token.value, start=token.start, end=token.end)

    def _parts(self, base: Expression) -> Expression:
        """What is picked out of it: .name and [index]."""
        count = 0
        while self.stream.next.is_sign(".", "["):
            count += 1
            if count > DEEPEST:
                raise AdError(self.text, self.stream.next.start, f"at most {DEEPEST} parts of parts")
            if self.stream.take().value == ".":
                name = self._attribute_name()
                base = _selected(base, name, self.stream.last_end)
            else:
                index = self.expression()
                self._expect("]", "] behind the index")
                base = Index(base, index, start=base.start, end=self.stream.last_end)
        return base

    def _attribute_name(self) -> str:
        token = self.stream.take()
        name = str(token.value)
        is_own_word = token.kind == "name" and name.lower() in _CONSTANTS.keys() | _NO_NAMES
        if token.kind not in ("name", "quoted") or is_own_word:
            raise AdError(self.text, token.start, "the name of an attribute")
        return name

    def _primary(self) -> Expression:
        token = self.stream.take()
        match token.kind:
            case "number":
                return self._number(token, is_negative=False)
            case "string":
                return self._string(token)
            case "bare":
                return self._bare(token)
            case "quoted":
                return Name(Scope.NEAREST, str(token.value), start=token.start, end=token.end)
            case "name":
                return self._named(token)
        if token.is_sign("("):
            inner = self.expression()
            self._expect(")", "an operator or )")
            return inner
        if token.is_sign("{"):
            items = self._items("}", "a value or }")
            return ListOf(items, start=token.start, end=self.stream.last_end)
        if token.is_sign("["):
            return self._record(token)
        raise AdError(self.text, token.start, _VALUE)

    def _string(self, token: Token) -> Literal:
        """Texts behind each other are one."""
        parts = [str(token.value)]
        while self.stream.next.kind == "string":
            parts.append(str(self.stream.take().value))
        return Literal("".join(parts), start=token.start, end=self.stream.last_end)

    def _bare(self, token: Token) -> Literal:
        first = str(token.value).partition(".")[0].lower()
        if first in _SCOPES or first in _CONSTANTS:
            digit = next(
                at for at in range(token.start, token.end) if self.text[at - 1 : at] == "." and self.text[at].isdigit()
            )
            raise AdError(self.text, digit, "the name of an attribute, which begins with a letter")
        return Literal(str(token.value), bare=True, start=token.start, end=token.end)

    def _named(self, token: Token) -> Expression:
        name, key = str(token.value), str(token.value).lower()
        if self.stream.next.is_sign("("):
            self.stream.take()
            arguments = self._items(")", "a value or )")
            return Call(key, arguments, start=token.start, end=self.stream.last_end)
        if key in _CONSTANTS:
            return Literal(_CONSTANTS[key], start=token.start, end=token.end)
        if key in _NO_NAMES:
            raise AdError(self.text, token.start, _VALUE)
        if key in _SCOPES and self.stream.next.is_sign("."):
            self.stream.take()
            return Name(_SCOPES[key], self._attribute_name(), start=token.start, end=self.stream.last_end)
        return Name(Scope.NEAREST, name, start=token.start, end=token.end)

    def _items(self, closing: str, accepted: str) -> tuple[Expression, ...]:
        """What stands between commas, up to the closing sign."""
        if self.stream.next.is_sign(closing):
            self.stream.take()
            return ()
        items = [self.expression()]
        while self.stream.next.is_sign(","):
            self.stream.take()
            items.append(self.expression())
        self._expect(closing, f"an operator, a comma or {closing}")
        return tuple(items)

    def _record(self, opening: Token) -> Record:
        """An ad inside an expression."""
        attributes: dict[str, Attribute] = {}
        while True:
            while self.stream.next.is_sign(";"):
                self.stream.take()
            if self.stream.next.is_sign("]"):
                self.stream.take()
                return Record(attributes, start=opening.start, end=self.stream.last_end)
            start = self.stream.next.start
            name = self._attribute_name()
            self._expect("=", "= behind the name of an attribute")
            attributes[name.lower()] = Attribute(name, self.expression(), start)
            if not self.stream.next.is_sign(";", "]"):
                raise AdError(self.text, self.stream.next.start, "an operator, ; or ]")

    def _expect(self, sign: str, accepted: str) -> None:
        token = self.stream.take()
        if not token.is_sign(sign):
            raise AdError(self.text, token.start, accepted)


def _selected(base: Expression, name: str, end: int) -> Expression:
    return Select(base, name, start=base.start, end=end)
