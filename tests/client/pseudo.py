"""A language for tests, in which every text of the catalogues stands in brackets: what is read outside of them comes from none.

`speak` makes it known to this process; then `--lang pseudo` speaks it, and so does a locale of that name. What a text fills in
stands outside of its brackets, so that an English word handed in as a value shows too. As a command of its own,
`python -m client.pseudo play HOST`, it is the client's command line in this language, for tests on a terminal.
"""

import re
import string
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from msgspec import to_builtins

from truc_terminal.main import main
from truc_words import LANGUAGES, local_words

LANG = "pseudo"
NO_TEXTS = ("name", "singular", "yes", "no")
_BRACKETED = re.compile("⟦[^⟦⟧]*⟧|⟦[^⟦⟧\n]*")
_WORD = re.compile(r"[^\W\d_]{2,}")

Patch = Callable[[object, str, Any], None]


def speak(patch: Patch = setattr) -> None:
    """Make the language known; `patch` sets an attribute, such as `monkeypatch.setattr`."""
    catalogues = import_module("truc_words.catalogue")
    read = catalogues.read_files
    for module in (catalogues, import_module("truc_words.catalogue")):
        patch(module, "LANGUAGES", (*LANGUAGES, LANG))
    patch(
        catalogues,
        "read_files",
        lambda lang: tuple(map(bracketed_all, read("en"))) if lang == LANG else read(lang),
    )


def bracketed_all(said: dict[str, Any]) -> dict[str, Any]:
    return {key: value if key in NO_TEXTS else _bracketed(value) for key, value in said.items()}


def _bracketed(value: Any) -> Any:
    match value:
        case dict():
            return {key: _bracketed(inner) for key, inner in value.items()}
        case list():
            return [_bracketed(inner) for inner in value]
        case _:
            return bracketed(value)


def bracketed(text: str) -> str:
    """Return a text with each of its pieces in brackets, and what it fills in between them."""
    return "".join(
        (f"⟦{plain}⟧" if plain.strip() else plain) + ("" if name is None else f"{{{name}}}")
        for plain, name, _, _ in string.Formatter().parse(text)
    )


DATA = (
    r"^truc: ",
    r"trucs?://\S*",
    r"(?:/[\w.-]+)+",  # paths
    r"\b(?:localhost|host|127\.0\.0\.1)(?::\d+)?\b",
    r"\b[A-Z2-7]{20,}\b",  # fingerprints
    r"\b[0-9a-f]{8,}\b",  # digests
    r"\b(?:[A-Z0-9]{5}|[A-Z0-9]{16})\b",  # tables
    r"\b(?:proven|C\d+)\b",
    rf"\btruc(?:-server)? (?:{'|'.join(main.commands)})\b(?: --\w+)*",
    r"\btruco?-[\w-]+",  # games
    r"\[[\w -]+\]",  # move lines
)
"""What stands in any language: of every command."""


def words_of(game: str) -> list[str]:
    """Return what the game of a set of local words calls by words of its own."""
    return [
        rf"(?<!\w){re.escape(plain)}(?!\w)"
        for text in _texts(to_builtins(local_words(game)) | {"instead": {}})
        for plain in _pieces(text)
    ]


def _texts(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for inner in value.values():
                yield from _texts(inner)
        case list() | tuple():
            for inner in value:
                yield from _texts(inner)
        case str():
            yield value
        case _:
            pass


def _pieces(text: str) -> list[str]:
    return [plain for plain, _, _, _ in string.Formatter().parse(text) if plain.strip()]


def unsaid(shown: str, data: Iterable[str] = ()) -> list[str]:
    """Return the words that stand outside of brackets and are no data: names, cards, addresses, paths, commands.

    `data` are regular expressions of what is said in any language here, beside what `DATA` has.
    """
    rest = _BRACKETED.sub(" ", shown)
    for datum in (*DATA, *sorted(data, key=len, reverse=True)):
        rest = re.sub(datum, " ", rest, flags=re.MULTILINE)
    return _WORD.findall(rest)


if __name__ == "__main__":
    speak()
    main(prog_name="truc")
