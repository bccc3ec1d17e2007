"""The words of the page as files of its tree: for each language all, and those on the way to a seat; and the games' own.

They are those of truc_words; a page is given the parts that it shows, so that its first load stays small.
"""

import json
import tomllib
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from truc_words.catalogue import LANGUAGES, local_sets, read_files, read_text

SHOWN: Final = (
    *("singular", "moves", "facts", "ranks", "letters", "signs", "gestures", "phrases", "reasons", "terms"),
    *("counts", "said", "closed", "lessons", "refused", "wrong", "screen"),
)
"""The parts of a catalogue that a page shows."""
OF_TERMINALS: Final = {
    "screen": (
        *("away", "best_of", "closed", "guests_admitted", "no_hurry", "overtaken", "pace", "pace_with_bank"),
        *("score", "taken_over", "tied", "to_target", "tricks", "wants_another"),
    ),
    "lessons": ("asked", "envido", "goal", "hand", "match", "scored-declined", "tied"),
}
"""Parts of which most is for terminals, with what a page shows of them."""

OF_THE_WAY: Final = {
    "page": (
        *(
            "connecting",
            "failed",
            "flor_off",
            "flor_on",
            "for_players",
            "free_table",
            "just_watch",
            "link_copied",
            "lobby",
        ),
        *("may_be_watched", "moved", "moved_more", "never_played", "nickname", "no_account", "no_room_more"),
        *(
            "nobody_chooses",
            "nobody_chooses_how",
            "not_proved_more",
            "play_here",
            "second_tab",
            "second_tab_more",
            "sit_down",
        ),
        *(
            "sure",
            "table_full",
            "table_gone",
            "table_gone_more",
            "try_again",
            "wait_for_you",
            "waits_for_you",
        ),
    ),
    "screen": ("guests_admitted", "no_hurry", "overtaken", "pace", "pace_with_bank", "to_target"),
    "said": ("and",),
    "key": ("title",),
}
"""What is said until somebody sits, and where nobody can; beside it everything that is refused. It comes first."""

_NOT_SHOWN: Final = ("like", "leaders", "names")
"""What a page does not need of a game's own words."""


def word_files() -> Iterator[tuple[str, bytes]]:
    """Yield the files of words with their paths in the tree; blocks."""
    games = tomllib.loads(read_text("page/games.toml"))
    for lang in LANGUAGES:
        game, around = read_files(lang)
        said = game | around
        page = tomllib.loads(read_text(f"page/{lang}.toml"))
        shown = {part: said[part] for part in SHOWN}
        shown |= {part: {name: said[part][name] for name in names} for part, names in OF_TERMINALS.items()}
        whole = {"lang": lang} | shown | page
        yield f"words/{lang}.json", _json(whole)
        way = {part: {name: whole[part][name] for name in names} for part, names in OF_THE_WAY.items()}
        whole_parts = {part: whole[part] for part in ("lang", "singular", "refused", "errors")}
        yield f"words/{lang}-seat.json", _json(whole_parts | way | {"games": games})
    yield "words/own.json", _json({"sets": dict(_own_words()), "games": games})


def _own_words() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each game's own words, with those of the game it is like; what it says nothing of is left out."""
    for name, words in msgspec.to_builtins(local_sets()).items():
        yield name, {part: said for part, said in words.items() if said and part not in _NOT_SHOWN}


def _json(words: dict[str, Any]) -> bytes:
    return json.dumps(words, ensure_ascii=False, separators=(",", ":")).encode()
