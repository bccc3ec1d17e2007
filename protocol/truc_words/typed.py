"""What a player types: for a sign or a phrase its name in the game's words or their own, or the word of the protocol.

For a command of the table it is the word of their language, or the English one.

How it is typed is forgiven: case, accents, hyphens, an article, and the end of a name that the beginning tells.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final, Literal

from truc_words.speech import Speech

TalkKind = Literal["sign", "phrase"]

_ARTICLE: Final = re.compile(r"(?:(?:an?|the|una?|uma?|el|l[ae]|[ao]) |l')(?=\w)")
"""Of any of the languages: a game's words may be in another than the player's."""

_WITH_TEXT: Final = ("chat", "sign", "say", "help")
"""The commands that have something after them; any other is a line of its own, so that it is not taken for a move."""


def with_english_command(text: str, speech: Speech) -> str:
    """Return a line with its command, if it has one, in English; any other line as it is."""
    words = {_plain(typed): command for command, typed in speech.catalogue.typed.items()}
    head, _, rest = text.partition(" ")
    begun = words.get(_plain(head))
    if begun in _WITH_TEXT:
        return f"{begun} {rest}".rstrip()
    return words.get(_plain(text), text)


def typed_name(word: str, what: TalkKind, speech: Speech) -> str:
    """Return what to type for a sign or phrase: its name without an article, and without what a comma adds to it."""
    return next(iter(_names(word, what, speech)))


def typed_word(text: str, words: Iterable[str], what: TalkKind, speech: Speech) -> str | None:
    """Return which of the words of a game a text means; None if it means none, or several."""
    wanted, known = _plain(text), {word: [*map(_plain, _names(word, what, speech))] for word in words}
    exact = [word for word, names in known.items() if wanted in names]
    begun = [word for word, names in known.items() if any(name.startswith(wanted) for name in names)]
    # a whole name wins over the beginning of another; an empty text is the beginning of every name
    for found in (exact, begun if wanted else []):
        if len(found) == 1:
            return found[0]
    return None


def _names(word: str, what: TalkKind, speech: Speech) -> Iterable[str]:
    if what == "sign":
        own, plain = speech.local.signs.get(word), speech.catalogue.signs.get(word)
    else:
        phrase = speech.catalogue.phrases.get(word)
        own, plain = speech.local.phrases.get(word), None if phrase is None else phrase.label
    named = (_without_article(name.partition(",")[0]) for name in (own, plain) if name)
    return dict.fromkeys([*named, word])


def _without_article(name: str) -> str:
    article = _ARTICLE.match(name)
    return name[article.end() :] if article else name


def _plain(text: str) -> str:
    """Return a text as it is compared: without accents, hyphens, signs at its end, and an article before it."""
    letters = unicodedata.normalize("NFKD", text.casefold()).encode("ascii", "ignore").decode()
    return _without_article(" ".join(letters.replace("-", " ").rstrip(" ?!.").split()))
