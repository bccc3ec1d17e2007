"""The words of the page as files of its tree: one for each language, and one with the games' own words.

They are those of truc_words; a page is given the parts that it shows, so that its first load stays small.
"""

import json
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from truc_words.catalogue import LANGUAGES, read_files, read_text

SHOWN: Final = (
    *("singular", "moves", "facts", "ranks", "letters", "signs", "gestures", "phrases", "reasons", "terms"),
    *("counts", "said", "closed", "lessons", "refused", "wrong", "screen"),
)
"""The parts of a catalogue that a page shows."""


_OWN: Final = {"sets": "local", "games": "page/games"}
"""What is the same for every reader: the games' own words, and their names."""


def word_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of words with their paths in the tree; blocks."""
    for lang in LANGUAGES:
        game, around = read_files(lang)
        said = game | around
        page = tomllib.loads(read_text(f"page/{lang}.toml"))
        yield f"words/{lang}.json", _json({"lang": lang} | {part: said[part] for part in SHOWN} | page)
    own = {name: tomllib.loads(read_text(f"{path}.toml")) for name, path in _OWN.items()}
    yield "words/own.json", _json(own)


def _json(words: dict[str, Any]) -> bytes:
    return json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()
