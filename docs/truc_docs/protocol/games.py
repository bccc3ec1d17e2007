"""The page of every preset in docs/rules: an introduction written by hand, then the rules made from the data.

The introductions stand beside the pages, in `intro/`, one TOML file for each set of words: what the games have in common,
what each is, what was decided where the sources say nothing or disagree, and the sources.
"""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from truc_rules import preset
from truc_words.rules_page import chapters

GENERATED: Final = (
    "<!-- Made by `python -m truc_docs.protocol.rules docs/rules`. Change the code or the introduction, not this"
    " page. -->"
)
_MORE: Final = "[parameters.md](parameters.md) has every value of every variant, the [glossary](../glossary.md) the words."


class Introduction(NamedTuple):
    """What is written by hand on the page of a preset."""

    text: str
    """What the game is."""
    common: str
    """What holds for its whole family."""
    decided: tuple[str, ...]
    """What the sources leave open, and how it is played here."""
    sources: tuple[tuple[str, str], ...]
    """Titles and addresses; an address may be empty."""


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
        decided=(*family["decided"], *own.get("decided", ())),
        sources=tuple((source["title"], source.get("url", "")) for source in family["sources"]),
    )


def game_page(folder: Path, name: str) -> str:
    """Return the page of the preset called `name`."""
    written = introduction(folder, name)
    lines = [f"# {name}", "", GENERATED, "", written.text, "", written.common, "", chapters(preset(name))]
    lines += ["## Decided here", "", "Where the sources say nothing or disagree:", ""]
    lines += [f"* {choice}" for choice in written.decided]
    lines += ["", "## Sources", "", *_sources(written), "", _MORE]
    return "\n".join(lines) + "\n"


def _sources(written: Introduction) -> Iterator[str]:
    for title, url in written.sources:
        yield f"* [{title}]({url})" if url else f"* {title}"
