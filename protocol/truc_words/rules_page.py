"""The page of a game, made from its data: the sentences and tables of its fields, by chapter.

House rules get their page from the same data. What holds in every game of the family is written here.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from truc_rules import TABLE_OPTIONS, Variant, presets
from truc_rules import preset as preset_named
from truc_words.rules_text import SENTENCES, TABLES
from truc_words.rules_text.wording import truts

CHAPTERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "Players and cards": ("players", "pack", "order"),
        "The deal": ("short_deal", "turnup", "redeal", "blind"),
        "The tricks": ("tie_leader", "partner_tie", "hand_rule", "all_tied", "cover_from_trick"),
        "The stake": (
            "ladder",
            "cap",
            "ask_window",
            "accept",
            "answerer",
            "raise_in_answer",
            "alternate",
            "remainder",
            "concede",
        ),
        "The last point": ("last_point",),
        "Envido": ("envido",),
        "Flor": ("flor",),
        "Pica-pica": ("pica",),
        "Signs and talk": ("signals", "phrases"),
        "The score": ("scoring", "match"),
        "At this table": ("show", "reveal", "absent"),
        "The words": ("words",),
    }
)
"""By heading: the fields described under it."""

_ALWAYS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "The deal": (
            "The first dealer is drawn; after every hand the deal passes to the next seat. The seat after the dealer is"
            " *eldest*. Every player gets three cards.",
        ),
        "The tricks": (
            "Eldest leads to the first trick. Each seat in order plays one card, any that it has; the strongest card wins"
            " the trick, and its player leads the next.",
            "If the best cards of both sides are equal, the trick is tied and nobody has won it.",
        ),
    }
)
"""By heading: what every game of the family has in common."""


def games() -> tuple[str, ...]:
    """Return the names of all games that come with the software."""
    return presets()


def table_rules() -> tuple[str, ...]:
    """Return the names of the rules that a table may change, where its game has them."""
    return TABLE_OPTIONS


def summary(name: str) -> str:
    """Return a preset in one line."""
    return variant_summary(preset_named(name))


def variant_summary(variant: Variant) -> str:
    """Return a game in one line."""
    counts = "/".join(map(str, variant.players))
    scoring = variant.scoring
    goal = truts(scoring.target) if scoring.points_per_unit else scoring.target
    games = "one game" if variant.match == 1 else f"best of {variant.match}"
    return f"{counts} players, {len(variant.pack)} cards, to {goal}, {games}"


def chapters(variant: Variant) -> str:
    """Return the rules of a game as Markdown, from the first chapter's heading on."""
    return "\n".join(line for heading in CHAPTERS for line in _chapter(variant, heading)).lstrip("\n") + "\n"


def chapter_texts(variant: Variant) -> Mapping[str, str]:
    """Return the rules of a game by heading, without the chapters that have nothing to say of it."""
    told = {heading: "\n".join(_chapter(variant, heading)).partition("\n\n")[2] for heading in CHAPTERS}
    return {heading: text for heading, text in told.items() if text}


def _chapter(variant: Variant, heading: str) -> Iterator[str]:
    names = CHAPTERS[heading]
    told = [*_ALWAYS.get(heading, ()), *(sentence for name in names for sentence in SENTENCES[name](variant))]
    if not told:
        return
    yield from ("", f"## {heading}", "", *(f"* {sentence}" for sentence in told))
    for name in names:
        if name in TABLES and (rows := TABLES[name](variant)):
            yield from ("", *_table(rows))


def _table(rows: tuple[tuple[str, ...], ...]) -> Iterator[str]:
    heads, *others = rows
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    yield from (f"| {' | '.join(cells)} |" for cells in others)


def rules_page(variant: Variant) -> str:
    """Return the rules of a game as Markdown."""
    return f"# {variant.name}\n\nVersion {variant.version} of its rules.\n\n{chapters(variant)}"
