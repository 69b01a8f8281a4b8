"""A report as a PDF: title, range, and each section with its sentence, chart and table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from io import BytesIO
from typing import Any

from scheduling.reports.chart_drawing import drawing
from scheduling.reports.report_section import MOST_ROWS, Section

#: Fonts that come with reportlab and know more letters than those that every PDF reader has.
_FONTS = {"Report": "Vera.ttf", "Report-Bold": "VeraBd.ttf"}
_MARGIN = 48
#: What a cell leaves free at its left and right together.
_PADDING = 8
#: Of the letters in a table, in points.
_SIZE = 8


def pdf(title: str, subtitle: str, sections: Sequence[Section]) -> bytes:
    """The document. Tables longer than a page are continued with their head; of long ones the first rows are there."""
    from reportlab.lib.pagesizes import A4  # late: it takes 0.3 s, and few pages need it
    from reportlab.platypus import SimpleDocTemplate

    styles = _styles()
    file = BytesIO()
    margins = dict.fromkeys(("leftMargin", "rightMargin", "topMargin", "bottomMargin"), _MARGIN)
    document = SimpleDocTemplate(file, pagesize=A4, title=title, author="GridPortal", invariant=1, **margins)
    parts = [_paragraph(title, styles["title"]), _paragraph(subtitle, styles["soft"])]
    for section in sections:
        parts += _section(section, styles, document.width)
    document.build(parts, onFirstPage=_foot, onLaterPages=_foot)
    return file.getvalue()


def _section(section: Section, styles: Any, width: float) -> list[Any]:
    finding = styles["kept_finding" if section.chart else "finding"]
    parts = [_paragraph(section.title, styles["heading"]), _paragraph(section.finding, finding)]
    if section.chart:
        parts.append(drawing(section.chart, width))
    if section.values:
        parts.append(_table(section, styles, width))
    if section.left_out:
        text = f"{section.left_out} more rows are in the CSV; the first {MOST_ROWS} are shown."
        parts.append(_paragraph(text, styles["soft"]))
    return [*parts, _paragraph(section.note, styles["soft"])] if section.note else parts


def _table(section: Section, styles: Any, width: float) -> Any:
    from reportlab.lib import colors
    from reportlab.platypus import Table

    shown = section.shown
    widths = _widths(section, shown, width)
    cells = [[_paragraph(head.label, styles["number" if head.number else "head"]) for head in section.heads]]
    kinds = [styles["right" if head.number else "cell"] for head in section.heads]
    columns = [(room - _PADDING, kind) for room, kind in zip(widths, kinds, strict=True)]
    cells += [[_cell(text, *column) for text, column in zip(row, columns, strict=True)] for row in shown]
    line, grey = colors.HexColor("#e1e5ea"), colors.HexColor("#868f99")
    style: list[tuple[Any, ...]] = [
        ("LINEBELOW", (0, 0), (-1, -1), 0.4, line),
        ("LINEBELOW", (0, 0), (-1, 0), 0.8, grey),
    ]
    style += [("TOPPADDING", (0, 0), (-1, -1), 2), ("BOTTOMPADDING", (0, 0), (-1, -1), 2)]
    style += [("LEFTPADDING", (0, 0), (-1, -1), _PADDING / 2), ("RIGHTPADDING", (0, 0), (-1, -1), _PADDING / 2)]
    style += [("FONT", (0, 1), (-1, -1), "Report", _SIZE, 10), ("VALIGN", (0, 0), (-1, -1), "TOP")]
    style += [("ALIGN", (at, 1), (at, -1), "RIGHT") for at, head in enumerate(section.heads) if head.number]
    return Table(cells, colWidths=widths, repeatRows=1, style=style)


def _widths(section: Section, shown: Sequence[Sequence[str]], width: float) -> list[float]:
    """Of the columns, `width` together: numbers what they need, so that few cells are broken; texts share the rest, and
    where that is too little are broken between words, those most that have most to give."""
    needed, least = [], []
    for head, cells in zip(section.heads, zip(*shown, strict=True), strict=True):
        in_head = max(_width(word, "Report-Bold") for word in head.label.split())
        needed.append(_PADDING + max(in_head, *(_width(text, "Report") for text in cells)))
        words = [word for text in cells for word in text.split()] or [""]
        in_cells = max(_width(word, "Report") for word in words)
        least.append(needed[-1] if head.number else _PADDING + max(in_head, in_cells))
    texts = [at for at, head in enumerate(section.heads) if not head.number] or list(range(len(needed)))
    of_texts, spare = sum(needed[at] for at in texts), width - sum(needed)
    if spare >= 0:
        return [each * (1 + spare / of_texts) if at in texts else each for at, each in enumerate(needed)]
    give = sum(needed) - sum(least)
    if give + spare < 0:  # too many numbers: all columns give
        return [width * each / sum(needed) for each in needed]
    return [each + spare * (each - at_least) / give for each, at_least in zip(needed, least, strict=True)]


def _width(text: str, font: str) -> float:
    from reportlab.pdfbase.pdfmetrics import stringWidth

    return float(stringWidth(text, font, _SIZE))


def _cell(text: str, room: float, style: Any) -> Any:
    """A text that fits on one line as it is; only a longer one is broken, which takes many times as long."""
    return text if _width(text, style.fontName) <= room + 0.01 else _paragraph(text, style)


def _styles() -> dict[str, Any]:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    for name, file in _FONTS.items():
        if name not in pdfmetrics.getRegisteredFontNames():
            pdfmetrics.registerFont(TTFont(name, file))
    plain = ParagraphStyle("plain", fontName="Report", fontSize=9, leading=12)
    bold = ParagraphStyle("bold", plain, fontName="Report-Bold")
    return {
        "title": ParagraphStyle("title", bold, fontSize=17, leading=22),
        "heading": ParagraphStyle("heading", bold, fontSize=12, leading=16, spaceBefore=14, keepWithNext=1),
        "finding": ParagraphStyle("finding", plain, fontSize=10, leading=14, spaceAfter=6),
        "kept_finding": ParagraphStyle("kept", plain, fontSize=10, leading=14, spaceAfter=6, keepWithNext=1),
        "soft": ParagraphStyle("soft", plain, fontSize=8, leading=11, textColor="#545d68", spaceBefore=3),
        "head": ParagraphStyle("head", bold, fontSize=_SIZE, leading=10),
        "number": ParagraphStyle("number", bold, fontSize=_SIZE, leading=10, alignment=2),
        "cell": ParagraphStyle("cell", plain, fontSize=_SIZE, leading=10),
        "right": ParagraphStyle("right", plain, fontSize=_SIZE, leading=10, alignment=2),
    }


def _paragraph(text: str, style: Any) -> Any:
    from reportlab.platypus import Paragraph

    return Paragraph(escape(text), style)


def _foot(canvas: Any, document: Any) -> None:
    canvas.saveState()
    canvas.setFont("Report", 8)
    canvas.drawRightString(document.pagesize[0] - _MARGIN, _MARGIN / 2, f"Page {canvas.getPageNumber()}")
    canvas.restoreState()
