"""The pages of docs/rules, one for a family of games: an introduction written by hand, then rules made from the data.

A family is the presets with one set of words, or with two where one game is told best by what it changes of the other. Its page has the rules of the first of them, the main game, but for the
common ones, which docs/rules/README.md tells once, and a table of what each other game changes. The introductions stand
beside the pages, in `intro/`, one TOML file for each family: what the games have in common, what each is, what was decided
where the sources say nothing or disagree, and the sources.
"""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from truc_rules import Variant, preset, presets
from truc_words.played_hand import TOLD_WITH
from truc_words.rules_page import CHAPTERS, chapters, hand_chapter
from truc_words.rules_text import ENGLISH, SENTENCES, TABLES

GENERATED: Final = "<!-- made by `python -m truc_docs.protocol.rules docs/rules` -->"
_COMMON: Final = "The [common rules](README.md#the-common-rules) hold too, where nothing else is said here."
_DIFFERENT: Final = (
    "What the other games change: *all* that is said of a rule above, or the sentences that begin as in the last column;"
    " *nothing* means that what is above holds too."
)
_START: Final = 5
"""How many words of a sentence are enough to find it again above."""


class Introduction(NamedTuple):
    """What is written by hand about a preset."""

    text: str
    """What the game is."""
    common: str
    """What holds for its whole family."""
    decided: tuple[str, ...]
    """What the sources leave open in the whole family, and how it is played here."""
    own_decided: tuple[str, ...]
    """The same of this preset alone."""
    sources: tuple[tuple[str, str], ...]
    """Titles and addresses; an address may be empty."""


class Difference(NamedTuple):
    """What a game says of one rule otherwise than the main game of its family."""

    instead: tuple[str, ...]
    """Its own sentences and rows of tables."""
    gone: tuple[str, ...]
    """Those of the main game that it lacks."""


def introduction(folder: Path, name: str) -> Introduction:
    """Read the introduction to the preset called `name`.

    Raises:
        KeyError: There is none.
    """
    family = tomllib.loads((folder / "intro" / f"{preset(name).words}.toml").read_text(encoding="utf-8"))
    own = family["presets"][name]
    return Introduction(
        text=own["text"].strip(),
        common=family["text"].strip(),
        decided=tuple(family["decided"]),
        own_decided=tuple(own.get("decided", ())),
        sources=tuple((source["title"], source.get("url", "")) for source in family["sources"]),
    )


def families() -> dict[str, tuple[str, ...]]:
    """Return the presets of every family by its main game, which gives the page its name."""
    by_words: dict[str, list[str]] = {}
    for name in presets():
        words = preset(name).words
        by_words.setdefault(TOLD_WITH.get(words, words), []).append(name)
    return {names[0]: tuple(names) for names in by_words.values()}


def page_of(name: str) -> str:
    """Return the main game of a preset's family."""
    return next(main for main, names in families().items() if name in names)


def common_rules() -> tuple[str, ...]:
    """Return the lines that the pages of all families, or of all but one, would repeat."""
    pages = [set(chapters(preset(main)).splitlines()) for main in families()]
    lines = dict.fromkeys(line for main in families() for line in chapters(preset(main)).splitlines())
    shared = [line for line in lines if sum(line in page for page in pages) >= len(pages) - 1]
    numbers = told(preset("put"), "players")
    return tuple(line for line in shared if line.startswith("* ") and line[2:] not in numbers)


def own_chapters(main: str) -> str:
    """Return the rules of a main game without the common ones, nor a heading that has nothing else."""
    common = common_rules()
    kept = [line for line in chapters(preset(main)).splitlines() if line not in common]
    parts = "\n".join(kept).split("\n## ")
    return "\n## ".join(part for part in parts if part.count("\n") > 1 and part.split("\n", 1)[1].strip())


def family_page(folder: Path, main: str) -> str:
    """Return the page of the family whose main game is called `main`."""
    written, others = introduction(folder, main), families()[main][1:]
    intro = ["", GENERATED, "", written.text, "", written.common, "", _COMMON, ""]
    hand = hand_chapter(preset(main)).strip("\n")
    lines = [f"# {main}", *intro, own_chapters(main).rstrip(), "", *([hand, ""] if hand else [])]
    if others:
        lines += [*_other_games(folder, main, others), ""]
    lines += ["## Decided here", ""]
    lines += [f"* {choice}" for choice in (*written.decided, *written.own_decided)]
    sources = dict.fromkeys(written.sources)
    for name in others:
        own = introduction(folder, name)
        is_of_set = _begins_set(name, main)
        choices = (*own.decided, *own.own_decided) if is_of_set else own.own_decided
        lines += [f"* `{name}`: {choice}" for choice in choices]
        sources |= dict.fromkeys(own.sources)
    lines += ["", "## Sources", "", *_sources(sources)]
    return "\n".join(lines) + "\n"


def _begins_set(name: str, main: str) -> bool:
    """Return whether a game is the first of a set of words that is not the main game's."""
    words = preset(name).words
    return words != preset(main).words and name == next(n for n in presets() if preset(n).words == words)


def _other_games(folder: Path, main: str, others: tuple[str, ...]) -> Iterator[str]:
    yield from ("## What differs", "", _DIFFERENT)
    for at, name in enumerate(others):
        own = introduction(folder, name)
        text = f"{own.text}\n\n{own.common}" if _begins_set(name, main) else own.text
        yield from ("", f"### {name}", "", text, "", "| rule | here | in place of |", "|---|---|---|")
        for heading, rule, _ in differences(preset(main), preset(name)):
            yield f"| {heading}: `{rule}` | {_nearest(rule, name, (main, *others[:at]))} |"


def _nearest(rule: str, name: str, before: tuple[str, ...]) -> str:
    """Return the cells that tell a rule by what it changes of the game above that has most of it."""
    after = told(preset(name), rule)
    found = {known: _difference(told(preset(known), rule), after) for known in before}
    near = min(before, key=lambda known: len(" ".join(found[known].instead)))
    if not after or near == before[0]:
        return _cells(found[before[0]], told(preset(before[0]), rule), "")
    return _cells(found[near], told(preset(near), rule), f"as in `{near}`")


def differences(main: Variant, other: Variant) -> Iterator[tuple[str, str, Difference]]:
    """Yield each rule, under the heading where it is told, that `other` says otherwise than `main`."""
    for chapter, names in CHAPTERS.items():
        for name in names:
            found = _difference(told(main, name), told(other, name))
            if any(found):
                yield ENGLISH(f"chapters.{chapter}"), name, found


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> Difference:
    return Difference(
        instead=tuple(line for line in after if line not in before),
        gone=tuple(line for line in before if line not in after),
    )


def told(variant: Variant, rule: str) -> tuple[str, ...]:
    """Return all that a game says of a rule: its sentences, and the rows of its table as lines.

    A game told on another's page speaks as that one; its own words stand under the rule `words`.
    """
    if rule != "words" and variant.words in TOLD_WITH:
        variant = replace(variant, words=TOLD_WITH[variant.words])
    rows = TABLES[rule](variant, ENGLISH)[1:] if rule in TABLES else ()
    return (*SENTENCES[rule](variant, ENGLISH), *(_row(row) for row in rows))


def _row(cells: tuple[str, ...]) -> str:
    return f"{cells[0]}: {', '.join(cell or 'none' for cell in cells[1:])};"


def _cells(found: Difference, above: tuple[str, ...], like: str) -> str:
    """Return what holds here, and how the sentences begin that it replaces, unless they are the whole rule."""
    instead = " ".join(found.instead).removesuffix(";")
    here = ", but: ".join(filter(None, (like, instead))) or "left out"
    if not any(found) or not above:
        return f"{here} |"
    if found.gone == above:
        return f"{here} | *all*"
    gone = "; ".join(_start(line.removesuffix(";").removesuffix(".")) for line in found.gone)
    return f"{here} | {gone or '*nothing*'}"


def _start(sentence: str) -> str:
    words = sentence.split()
    return sentence if len(words) <= _START else " ".join(words[:_START]) + " …"


def _sources(sources: Iterable[tuple[str, str]]) -> Iterator[str]:
    for title, url in sources:
        yield f"* [{title}]({url})" if url else f"* {title}"
