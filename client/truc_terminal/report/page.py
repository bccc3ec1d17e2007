"""The page of a match, from its course: a template, one style and one small script, all in one file.

The template escapes what others wrote, and the page itself forbids any other style or script.
"""

import hashlib
from base64 import b64encode
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from truc_client.verifying import game_name, refutation_line, seat_name, seat_rows, verdict_lines
from truc_terminal.replay_model.stages import Course
from truc_terminal.report.cards import symbols
from truc_terminal.report.curve import curve_of
from truc_terminal.report.view import entries_before, hand_views
from truc_words import Speech, printable, shown_name, side_name

_TEMPLATES: Final = Environment(
    loader=PackageLoader("truc_terminal.report", "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=lambda value: printable(value) if type(value) is str else value,
)


def page(course: Course, *, lang: str) -> str:
    """Return a match as a page of HTML, in a language."""
    verdict, terms = course.verdict, course.terms
    words = terms.variant.words if terms else ""
    speech = Speech(lang, words)
    names = tuple(shown_name(name, seat) for seat, name in enumerate(verdict.players))
    failed = course.stages[-1].record.refutation if course.stages else None
    style, script = (_TEMPLATES.get_template(name).render() for name in ("style.css", "steps.js"))
    return _TEMPLATES.get_template("page.html").render(
        lang=lang,
        said=speech.catalogue.report,
        table=speech.catalogue.screen,
        records=speech.catalogue.records,
        term=speech.term,
        written=speech.card,
        counted=speech.counted,
        title=_title(course, names, speech),
        result=str(verdict.result),
        lines=[*verdict_lines(verdict, speech)],
        failed=failed and refutation_line(failed, verdict.players, speech),
        seats=[(seat_name(row.seat, speech), *row[1:]) for row in seat_rows(verdict, speech)],
        sides=[side_name(side, names, speech) for side in (0, 1)],
        curve=curve_of(course, speech),
        symbols=symbols(terms.variant.pack, speech) if terms else "",
        before=entries_before(course, lang),
        hands=[*hand_views(course, lang)],
        style=style,
        script=script,
        style_digest=_digest(style),
        script_digest=_digest(script),
    )


def _title(course: Course, names: tuple[str, ...], speech: Speech) -> str:
    if course.terms is None:
        return speech.say("report.nothing")
    game = game_name(course.terms.variant.name, is_preset=course.verdict.is_preset, speech=speech)
    return f"{game}: {' - '.join(names)}" if names else game


def _digest(source: str) -> str:
    """Return the digest by which the page permits a style or script."""
    return b64encode(hashlib.sha256(source.encode()).digest()).decode()
