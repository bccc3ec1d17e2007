"""A language's sentences about rules, by key, and small wordings that several of them share."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from truc_rules import SIDES, Variant
from truc_words.catalogue import read_spoken

_OFTEN: Final[Mapping[int, str]] = MappingProxyType({1: "one", 2: "two"})
"""By number of times: the form that languages have a word of their own for, once and twice."""


class Wording(NamedTuple):
    """The sentences of one language, as the players of a game with a set of local words speak it."""

    lang: str
    words: str = ""

    def __call__(self, key: str, **values: object) -> str:
        """Return the sentence of a key of `rules/LANG.toml`, with values filled in.

        Raises:
            KeyError: There is none.
        """
        return _sentences(self.lang, self.words)[key].format(**values)

    def points(self, count: int) -> str:
        """Return a number of points."""
        return self._counted("points", count)

    def truts(self, count: int) -> str:
        """Return a number of truts."""
        return self._counted("truts", count)

    def times(self, count: int) -> str:
        """Return a number of times."""
        return self(f"counts.times.{_OFTEN.get(count, 'many')}", n=count)

    def _counted(self, what: str, count: int) -> str:
        return self(f"counts.{what}.{'one' if count == 1 else 'many'}", n=count)

    def listed(self, words: Sequence[str], last: str) -> str:
        """Return `words` with commas, and the word for `last` (and, or, then) before the last of them."""
        if not words[1:]:
            return "".join(words)
        return self(f"listed.{last}", first=", ".join(words[:-1]), last=words[-1])


Sentences: TypeAlias = Callable[[Variant, Wording], tuple[str, ...]]
Rows: TypeAlias = Callable[[Variant, Wording], tuple[tuple[str, ...], ...]]

ENGLISH: Final = Wording("en")


@cache
def _sentences(lang: str, words: str) -> Mapping[str, str]:
    return dict(_flat("", read_spoken(f"rules/{lang}.toml", lang, words)))


def _flat(before: str, table: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, value in table.items():
        found += [(before + key, value)] if isinstance(value, str) else _flat(f"{before}{key}.", value)
    return found


def has_partners(variant: Variant) -> bool:
    """Tell whether the game is also, or only, played by sides of several seats."""
    return max(variant.players) > len(SIDES)


def scorer(variant: Variant) -> str:
    """Return the end of a key: who scores, a player or a side."""
    return "side" if has_partners(variant) else "player"


def by_value(field: str) -> Sentences:
    """Return what tells a field by one sentence for each of its values, which are keys as the document writes them."""
    return lambda variant, say: (say(f"{field}.{getattr(variant, field)}".lower()),)
