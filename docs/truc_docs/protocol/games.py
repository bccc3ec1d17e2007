"""The pages of docs/rules, one for a family of games: an introduction written by hand, then rules made from the data.

A family is the presets with one set of words, or with several where a game is told best by what it changes of another.
Its page has the rules of the main game, but for the common ones, which docs/rules/README.md tells once, and for every
other game a list of what it changes of the one above that it is most like. The introductions stand beside the pages, in
`intro/`, one TOML file for each set of words: what its games have in common, what each is, and in which section of rules.md
their sources and decisions are.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from truc_rules import Variant, preset, presets
from truc_words.rules_page import TOLD_WITH, chapters, markdown_table
from truc_words.rules_text import CHAPTERS, ENGLISH, SENTENCES, TABLES

GENERATED: Final = "<!-- made by `python -m truc_docs.protocol.rules docs/rules` -->"
_COMMON: Final = "The [common rules](README.md#the-common-rules) hold where nothing else is said here."
_FOUNDED: Final = "For sources and decisions see {places} of the rules."
_BASE: Final = "As in [`{base}`](#{base}), but:"
_PAGE_OF: Final = {
    **TOLD_WITH,
    "lanes": "french",
    "explained": "french",
    "uruguayan": "argentine",
    "venezuelan": "argentine",
}
"""By set of words: the set of the main game on whose page its games are told."""
_BLOCKS: Final = ("flor", "pica")
"""The rules that are too long for a line where a game has them and the main game does not."""
_LINE: Final = 120
"""How many letters of a rule are said again rather than looked up in a game above."""
RAISE_SAID: Final = re.compile(r"\* `raise (\d+|rest|trut)`: (.*)$")
"""The row of the words of a game that says what a raise is called."""
_LISTED: Final = re.compile(r"^\| (sign|phrase|what) .*\n\|---.*\n((?:\| .*\n)+)", re.MULTILINE)
"""The tables whose rows are told one after the other, not compared."""
_LEADS: Final = {
    "sign": "Each sign, with the cards that make it true:\n\n",
    "phrase": "The phrases:\n\n",
    "what": "",
}
_START: Final = 5
"""How many words of a sentence are enough to find it again above."""


class Introduction(NamedTuple):
    """What is written by hand about a preset."""

    text: str
    """What the game is."""
    common: str
    """What holds for its whole family."""
    section: str
    """The heading in rules.md under which its sources and decisions are."""


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
        section=family["section"],
    )


def families() -> dict[str, tuple[str, ...]]:
    """Return the presets of every family, the main game first, by that game, which gives the page its name."""
    by_words: dict[str, list[str]] = {}
    for name in presets():
        words = preset(name).words
        by_words.setdefault(_PAGE_OF.get(words, words), []).append(name)
    ordered = [
        sorted(names, key=lambda name: preset(name).words != words) for words, names in by_words.items()
    ]
    return {names[0]: tuple(names) for names in ordered}


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
    """Return the rules of a main game without the common ones, nor a heading that has nothing else.

    What a raise is called stands in the table of the stakes alone.
    """
    common = common_rules()
    lines = listed(chapters(preset(main))).splitlines()
    kept = [line for line in lines if line not in common and not RAISE_SAID.match(line)]
    parts = "\n".join(kept).split("\n## ")
    return "\n## ".join(part for part in parts if part.count("\n") > 1 and part.split("\n", 1)[1].strip())


def listed(told: str) -> str:
    """Return the rules of a game with its signs, phrases and words as lists."""
    return _LISTED.sub(_list, told)


def _list(found: re.Match[str]) -> str:
    rows = (row.strip("| ").split(" | ") for row in found[2].splitlines())
    lines = "".join(f"* {cells[0]}: {', '.join(cells[1:])}\n" for cells in rows)
    return f"{_LEADS[found[1]]}{lines}"


def family_page(folder: Path, main: str) -> str:
    """Return the page of the family whose main game is called `main`."""
    written, others = introduction(folder, main), families()[main][1:]
    founded = _FOUNDED.format(places=_places(introduction(folder, name).section for name in (main, *others)))
    intro = ["", GENERATED, "", written.text, "", written.common, "", f"{_COMMON} {founded}", ""]
    lines = [f"# {main}", *intro, own_chapters(main).rstrip()]
    if others:
        lines += ["", *_other_games(folder, main, others)]
    return "\n".join(lines) + "\n"


def _places(sections: Iterable[str]) -> str:
    """Return links to sections of rules.md, each once."""
    links = [f"[{section.split('.')[0]}](rules.md#{_anchor(section)})" for section in dict.fromkeys(sections)]
    return f"section{'s' if len(links) > 1 else ''} {', '.join(links)}"


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9 -]", "", heading.lower()).replace(" ", "-")


def _begins_set(name: str, main: str) -> bool:
    """Return whether a game is the first of a set of words that is not the main game's."""
    words = preset(name).words
    return words != preset(main).words and name == next(n for n in presets() if preset(n).words == words)


def _other_games(folder: Path, main: str, others: tuple[str, ...]) -> Iterator[str]:
    yield "## Other games"
    for at, name in enumerate(others):
        own, before = introduction(folder, name), (main, *others[:at])
        text = f"{own.text}\n\n{own.common}" if _begins_set(name, main) else own.text
        base = base_of(main, name)
        found = list(differences(preset(base), preset(name)))
        new = [rule for _, rule, _ in found if _is_block(name, rule, base, before)]
        yield from ("", f"### {name}", "", text, "", _BASE.format(base=base), "")
        for heading, rule, difference in found:
            if rule not in new:
                like = _games_with(told(preset(name), rule), rule, before)
                yield f"* {heading}: `{rule}`. {_change(difference, told(preset(base), rule), like)}"
        for heading, rule, _ in found:
            if rule in new:
                yield from ("", f"#### {heading}: `{rule}`", "", _block(preset(name), rule))


def base_of(main: str, name: str) -> str:
    """Return the game above `name` on the page of its family which it changes least."""
    names = families()[main]
    before = names[: names.index(name)]
    return min(before, key=lambda base: _changed(preset(base), preset(name)))


def _changed(base: Variant, other: Variant) -> int:
    return sum(len(" ".join(found.instead + found.gone)) for _, _, found in differences(base, other))


def _games_with(said: tuple[str, ...], rule: str, before: tuple[str, ...]) -> str:
    """Return the first game above that says the same of a rule, if it takes more than a line; empty if there is none."""
    same = (name for name in before if told(preset(name), rule) == said)
    return next(same, "") if len(" ".join(said)) > _LINE else ""


def _is_block(name: str, rule: str, base: str, before: tuple[str, ...]) -> bool:
    """Return whether a rule is told at length: no game above has the same, and the game's base has nothing of it."""
    said = told(preset(name), rule)
    return rule in _BLOCKS and not told(preset(base), rule) and not _games_with(said, rule, before)


def _block(variant: Variant, rule: str) -> str:
    """Return a rule that no game above has, as it is told on a page of its own."""
    rows = TABLES[rule](variant, ENGLISH) if rule in TABLES else ()
    sentences = "\n".join(f"* {line}" for line in SENTENCES[rule](variant, ENGLISH))
    return "\n\n".join(filter(None, (sentences, markdown_table(rows) if rows else "")))


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

    A game told on another's page speaks as that one; its own words stand under the rule `words`. The table of the stakes
    is left out: it follows from the sentences and the words.
    """
    if rule != "words" and variant.words in TOLD_WITH:
        variant = replace(variant, words=TOLD_WITH[variant.words])
    rows = TABLES[rule](variant, ENGLISH)[1:] if rule in TABLES and rule != "ladder" else ()
    return (*SENTENCES[rule](variant, ENGLISH), *(_row(row) for row in rows))


def _row(cells: tuple[str, ...]) -> str:
    return f"{cells[0]}: {', '.join(cell or 'none' for cell in cells[1:])};"


def _change(found: Difference, above: tuple[str, ...], like: str) -> str:
    """Return what holds here, and how the sentences begin that it replaces, unless they are the whole rule.

    A row of a table replaces the row of the same name without a word.
    """
    if like:
        return f"As in `{like}`."
    here = " ".join(found.instead).removesuffix(";")
    if found.gone == above:
        return here or "*Left out.*"
    named = {line.partition(": ")[0] for line in found.instead if line.endswith(";")}
    gone = (line for line in found.gone if not line.endswith(";") or line.partition(": ")[0] not in named)
    starts = "; ".join(_start(line.removesuffix(";").removesuffix(".")) for line in gone)
    if not here:
        return f"*Left out:* {starts}"
    return f"{here} *In place of:* {starts}" if starts else f"*Also:* {here}"


def _start(sentence: str) -> str:
    words = sentence.split()
    return sentence if len(words) <= _START else " ".join(words[:_START]) + " …"
