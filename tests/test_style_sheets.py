"""Style sheets hold no rule for what no page has: each class, id and token in them is named by a template, by a script,
by a chart, or by a library whose elements we restyle."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import drf_spectacular_sidecar
import pytest
from django.contrib import admin

from scheduling.jobs.core.states import JobState
from scheduling.pages.charts.timeline import CHOICE

ROOT = Path(__file__).parents[1]
SHEETS = sorted((ROOT / "static/css").glob("*.css"))

#: Classes of elements that htmx and Plotly make.
FOREIGN = {"modebar", "modebar-btn", "textpoint", "annotation-text"}

#: Those of Swagger UI, which one sheet restyles.
SWAGGER = Path(drf_spectacular_sidecar.__file__).parent / "static/drf_spectacular_sidecar/swagger-ui-dist"

#: Django's administration, which another restyles.
ADMIN = Path(admin.__file__).parent

#: Classes with a part that templates fill in: the state of a job or its wait for a choice, a step of the ramp.
FILLED = {f"t-{state}" for state in (*JobState, CHOICE)} | {f"{letter}{step}" for letter in "be" for step in range(5)}
FILLED |= {"e-none"}

#: Filters that give a tone or a state as a class.
TONES = ROOT / "gridportal/web/templatetags/state_marks.py"


def names(sheet: Path) -> set[str]:
    """The classes and ids in the selectors of a sheet."""
    text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
    selectors = " ".join(re.findall(r"([^{}]+)\{", text))
    selectors = re.sub(r"\[[^\]]*\]", "", selectors)
    return set(re.findall(r"[.#]([A-Za-z][\w-]*)", selectors))


def named() -> set[str]:
    """Words in the classes and ids of templates, and in the strings of scripts, forms and filters."""
    words = set(FOREIGN | FILLED)
    for path in (ROOT / "templates").rglob("*.html"):
        for value in re.findall(r"""\b(?:class|id)="((?:\{[%{].*?[%}]\}|[^"])*)\"""", path.read_text(), re.DOTALL):
            words |= set(re.findall(r"[\w-]+", value))
    for path in [*(ROOT / "static/js").glob("*.js"), TONES]:
        for value in re.findall(r"""["'`]([^"'`\n]*)["'`]""", path.read_text()):
            words |= set(re.findall(r"[\w-]+", value))
    return words


@pytest.mark.parametrize("sheet", SHEETS, ids=lambda sheet: sheet.name)
def test_every_class_and_id_of_a_style_sheet_is_on_some_page(sheet: Path) -> None:
    texts = {
        "api_docs.css": [SWAGGER / "swagger-ui.css", SWAGGER / "swagger-ui-bundle.js"],
        "admin.css": [ADMIN / "static/admin/css/base.css", ADMIN / "templates/admin/base.html"],
    }
    library = " ".join(path.read_text() for path in texts.get(sheet.name, []))
    assert {name for name in names(sheet) - named() if name not in library} == set()


def test_every_token_is_used() -> None:
    declared = set(re.findall(r"^\s*(--[\w-]+):", (ROOT / "static/css/tokens.css").read_text(), re.MULTILINE))
    users = [*SHEETS, *(ROOT / "static/js").glob("*.js")]
    users += [path for app in ("gridportal", "monitoring", "scheduling") for path in (ROOT / app).rglob("*.py")]
    text = " ".join(path.read_text() for path in users)
    used = set(re.findall(r"var\((--[\w-]+)", text)) | set(re.findall(r"[\"'](--[\w-]+)[\"']", text))
    families = set(re.findall(r"[\"'](--\w+)\{", text))  # an f-string that counts through a ramp
    assert {token for token in declared - used if token.rstrip("0123456789") not in families} == set()


def test_each_page_loads_a_style_sheet_once() -> None:
    pages = ("partials/styles.html", "api_docs.html", "admin/base_site.html")
    texts = [(ROOT / "templates" / page).read_text() for page in pages]
    loaded = [re.findall(r"css/(\w+\.css)", text) for text in texts]
    assert [sorted(names) for names in loaded] == [sorted(set(names)) for names in loaded]
    assert {name for names in loaded for name in names} == {sheet.name for sheet in SHEETS}


@pytest.mark.parametrize("theme", [":root", ':root[data-theme="dark"]'])
def test_the_bar_of_each_state_stands_out_from_the_page(theme: str) -> None:
    """At least 3 to 1, as WCAG 2.2 (1.4.11) asks of graphics."""
    text = (ROOT / "static/css/tokens.css").read_text()
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", text.split(f"\n{theme} {{")[1].split("\n}")[0]))
    low = {state: contrast(tokens[f"s-{state}"], tokens["paper"]) for state in JobState if f"s-{state}" in tokens}
    assert len(low) >= 8
    assert {state: ratio for state, ratio in low.items() if ratio < 3} == {}


@pytest.mark.parametrize("theme", [":root", ':root[data-theme="dark"]'])
def test_found_words_can_be_read_and_stand_out(theme: str) -> None:
    """At least 4.5 to 1 for text, as WCAG 2.2 (1.4.3) asks, and a ground other than that of the log."""
    text = (ROOT / "static/css/tokens.css").read_text()
    tokens = dict(re.findall(r"--([\w-]+): (#[0-9a-f]+);", text.split(f"\n{theme} {{")[1].split("\n}")[0]))
    mark = (ROOT / "static/css/text.css").read_text().split("pre mark {")[1].split("}")[0]
    ground, words = (re.search(rf"{name}: var\(--([\w-]+)\)", mark) for name in (r"\sbackground", r"\scolor"))
    assert ground
    assert words
    assert contrast(tokens[words[1]], tokens[ground[1]]) >= 4.5
    assert tokens[ground[1]] != tokens["panel"]


def contrast(one: str, other: str) -> float:
    """The ratio of two colours, as WCAG defines it."""
    dark, light = sorted(map(luminance, (one, other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class _Links(HTMLParser):
    """The elements around each link behind which a sentence ends or goes on: names and classes, the nearest last."""

    _EMPTY = {"input", "br", "img", "link", "meta", "hr"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[set[str]] = []
        self.link: list[set[str]] = []
        self.found: list[list[set[str]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in self._EMPTY:
            return
        words = {tag} | {f".{word}" for word in (dict(attrs).get("class") or "").split()}
        self.open.append(words)
        if tag == "a":
            self.link = list(self.open)

    def handle_endtag(self, tag: str) -> None:
        while self.open and tag not in self.open.pop():
            pass

    def handle_data(self, data: str) -> None:
        if self.link and "a" not in {name for each in self.open for name in each}:
            if re.match(r"\s*([.]|[,;]\s*\w)", data):
                self.found.append(self.link)
            self.link = []


def test_links_in_sentences_are_underlined() -> None:
    rules = re.findall(r":is\(([^()]*)\) > a:not", (ROOT / "static/css/elements.css").read_text())
    underlined = {name.strip() for rule in rules for name in rule.split(",")}
    plain = []
    for path in sorted((ROOT / "templates").rglob("*.html")):
        links = _Links()
        links.feed(re.sub(r"\{%.*?%\}|\{#.*?#\}", "", path.read_text(), flags=re.DOTALL))
        for *_, around, link in links.found:
            if not around & underlined and ".button" not in link:
                plain.append((str(path.relative_to(ROOT)), sorted(around)))
    assert plain == []


def test_a_box_below_the_end_of_a_log_keeps_away_from_it() -> None:
    rule = re.search(r"^pre \+ \.says \{([^}]*)\}", (ROOT / "static/css/titles.css").read_text(), re.MULTILINE)
    assert rule
    assert "margin-top: 16px;" in rule[1]
