"""Errors of forms name what is accepted; our own sentences stay."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.core.exceptions import ValidationError

from gridportal.web.worded_form import WordedForm

ROOT = Path(__file__).parents[3]


class Trial(WordedForm):
    count = forms.IntegerField(min_value=2, max_value=8)
    share = forms.FloatField(min_value=0.5, required=False)
    name = forms.CharField(max_length=5, min_length=2, error_messages={"required": "Say who you are."})
    email = forms.EmailField(required=False)
    color = forms.ChoiceField(choices=[("", "any"), ("r", "red"), ("b", "blue")], required=False)
    slug = forms.SlugField(required=False)
    day = forms.DateField(required=False)

    def clean_name(self) -> str:
        if self.cleaned_data["name"] == "root":
            raise ValidationError("Nobody is called root.")
        return str(self.cleaned_data["name"])


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("count", "9", "Enter a whole number from 2 to 8."),
        ("count", "1", "Enter a whole number from 2 to 8."),
        ("count", "many", "Enter a whole number from 2 to 8."),
        ("count", "", "Enter a whole number from 2 to 8."),
        ("share", "0.1", "Enter 0.5 or more."),
        ("name", "abcdef", "Enter a text of 2 to 5 characters."),
        ("name", "", "Say who you are."),
        ("name", "root", "Nobody is called root."),
        ("email", "nobody", "Enter an e-mail address, such as ann@example.org."),
        ("color", "green", "Enter one of red, blue."),
        ("slug", "a b", "Enter letters, digits, - and _."),
        ("day", "tomorrow", "Enter a date, such as 2030-01-31."),
    ],
)
def test_an_error_says_what_is_accepted(field: str, value: str, sentence: str) -> None:
    right: dict[str, Any] = {"count": "2", "name": "ann"}
    form = Trial(right | {field: value})
    assert not form.is_valid()
    assert list(form.errors[field]) == [sentence]


def test_two_faults_of_one_value_are_one_sentence() -> None:
    form = Trial({"count": "2", "name": "\0" * 9})
    assert list(form.errors["name"]) == ["Enter a text of 2 to 5 characters."]


def test_every_form_of_the_portal_speaks_so() -> None:
    plain = []
    for app in ("gridportal", "monitoring", "scheduling"):
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and "forms.Form" in map(ast.unparse, node.bases):
                    plain.append(f"{path.name}: {node.name}")
    assert plain == ["worded_form.py: WordedForm"]
