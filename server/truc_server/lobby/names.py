"""The names of players: which are allowed, in which form, and that no two players who are here have names that look alike.

A name is a label and proves nothing; the tag tells who somebody is. Still, at a table people go by names. So the one who
comes later under a name that looks like another's gets a number. Names at other nodes are known a moment later: two
players who arrive at two nodes at once may have names that look alike until one of them logs in again. Invariant: a
player who is connected or seated has one name.
"""

import json
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from secrets import randbelow
from typing import Any, Final, NamedTuple

from truc_server.net.peer import wrong_field

_LEFT_TO_RIGHT: Final = "\u200e"  # the data has this mark around what is written from right to left
_PACKAGE: Final = "confusable_homoglyphs"
_UNKNOWN: Final = "UNKNOWN"


class _Scripts(NamedTuple):
    """Ranges of characters, ascending: where each begins, where it ends, and its script."""

    firsts: tuple[int, ...]
    lasts: tuple[int, ...]
    scripts: tuple[str, ...]


def prototype(text: str) -> str:
    """Return a text with each character replaced by the one (or the several) that stands for all that look like it."""
    return text.translate(_prototypes())


def script(character: str) -> str:
    """Return the script of a character by the name that Unicode gives it: LATIN, GREEK, COMMON."""
    ranges, point = _scripts(), ord(character)
    at = bisect_right(ranges.firsts, point) - 1
    return ranges.scripts[at] if at >= 0 and point <= ranges.lasts[at] else _UNKNOWN


@lru_cache(maxsize=1)
def _prototypes() -> Mapping[int, str]:
    listed = {
        written.strip(_LEFT_TO_RIGHT): tuple(entry["c"].strip(_LEFT_TO_RIGHT) for entry in entries)
        for written, entries in _read("confusables.json").items()
    }
    return {ord(one): others[0] for one, others in listed.items() if _has_prototype(one, others, listed)}


def _has_prototype(one: str, others: tuple[str, ...], listed: Mapping[str, tuple[str, ...]]) -> bool:
    """Tell whether a character maps to its only look-alike; of two that look like each other alone, the later."""
    if len(one) != 1 or len(others) != 1:
        return False
    (other,) = others
    # The data names look-alikes both ways: if each were replaced by the other they would differ as before.
    return len(other) != 1 or len(listed.get(other, ())) > 1 or other < one


@lru_cache(maxsize=1)
def _scripts() -> _Scripts:
    table = _read("categories.json")
    names, ranges = table["iso_15924_aliases"], table["code_points_ranges"]
    return _Scripts(
        tuple(first for first, *_ in ranges),
        tuple(last for _, last, *_ in ranges),
        tuple(names[name] for _, _, name, _ in ranges),
    )


def _read(name: str) -> Any:
    return json.loads(files(_PACKAGE).joinpath(name).read_text(encoding="utf-8"))


LONGEST: Final = 64  # bytes of UTF-8
_MAX_MARKS: Final = 4  # combining marks in a row; UTS 39, 5.4, refuses more as well
_FIRST: Final = 2  # the number of the second player of a name
_FEW: Final = 10  # below it numbers are tried in turn
_DIGITS: Final = 9  # of the longest numbers
_VIRAMA: Final = 9  # the combining class of what kills a vowel: joiners after it change the shape of letters
_JOINERS: Final = "\u200c\u200d"
_UNJOINED: Final = str.maketrans("", "", _JOINERS)
# Variation selectors say only how a sign such as an emoji is drawn: left out, and not refused.
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f]")
# Categories: control, format, surrogate, private use, unassigned, line and paragraph separators.
_REFUSED: Final = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# What shows nothing though its category is one of letters, marks or signs: fillers, Braille's blank.
_INVISIBLE: Final = frozenset(
    "\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0"
    "\U00013441\U00013442\U00016fe4\U0001d159"
)
_INVISIBLE_PLANE: Final = 0xE0000  # tags and selectors that show nothing
_ANY_SCRIPT: Final = frozenset({"COMMON", "INHERITED"})
# UTS 39, 5.2, "Highly Restrictive": scripts in which Chinese, Japanese and Korean are written beside Latin.
_TOGETHER: Final = (
    frozenset({"LATIN", "HAN", "HIRAGANA", "KATAKANA"}),
    frozenset({"LATIN", "HAN", "BOPOMOFO"}),
    frozenset({"LATIN", "HAN", "HANGUL"}),
)
_TAG: Final = re.compile(r"(?i:guest)-[A-Zl2-9]{20}|[A-Zl2-9]{26}")  # as it looks: I and 1 as l, 0 as O
_REMEMBERED: Final = 4_096  # names whose looks, or whose form in use, are remembered
_NUMBERED: Final = re.compile(r" (?:[2-9]|[1-9]\d+)$")


@lru_cache(maxsize=_REMEMBERED)
def normalised(name: str) -> str:
    """Return a name in the one form it is used in: compatible characters as one, single spaces, none around it.

    Raises:
        RefusedError: It is empty, too long, holds what cannot be seen, or mixes scripts.
    """
    # First, as compatible forms, such as wide letters, may hold what the checks below look for.
    single = _SELECTORS.sub("", unicodedata.normalize("NFKC", name))
    _check_visible(single)
    cleaned = " ".join(single.split())
    if not cleaned or len(cleaned.encode()) > LONGEST:
        raise wrong_field("name", f"1 to {LONGEST} bytes of printable text")
    if not cleaned.isascii():
        _check_marks(cleaned)
        _check_scripts(cleaned)
    if _TAG.fullmatch(_skeleton(cleaned)):
        raise wrong_field("name", "a name that does not read as the tag of a player")
    return cleaned


def _check_visible(name: str) -> None:
    if name.isascii() and name.isprintable():
        return
    for i, character in enumerate(name):
        if not _is_visible(character) and not (character in _JOINERS and _joins(name, i)):
            raise wrong_field("name", f"printable text, got U+{ord(character):04X}")


def _is_visible(character: str) -> bool:
    is_hidden = character in _INVISIBLE or ord(character) >= _INVISIBLE_PLANE
    return not is_hidden and unicodedata.category(character) not in _REFUSED


def _joins(name: str, i: int) -> bool:
    """Tell whether a joiner stands where it changes how letters are written."""
    before, after = name[i - 1 : i], name[i + 1 : i + 2]
    if not before or not after:
        return False
    # In Indic and Arabic scripts, as in domain names (RFC 5892, A.1 and A.2); else it shows nothing.
    follows_virama = unicodedata.combining(before) == _VIRAMA
    return follows_virama or {unicodedata.bidirectional(before), unicodedata.bidirectional(after)} == {"AL"}


def _check_marks(name: str) -> None:
    run = 0
    for i, character in enumerate(unicodedata.normalize("NFD", name)):
        run = run + 1 if unicodedata.category(character).startswith("M") else 0
        if run > _MAX_MARKS or (run and i == 0):
            raise wrong_field("name", f"at most {_MAX_MARKS} marks on a letter, and none before the first")


def _check_scripts(name: str) -> None:
    """Check that a name is written in one script, or in some that are used together, and its digits in one.

    So letters of different scripts that look alike cannot stand side by side.
    """
    scripts = {script(character) for character in name} - _ANY_SCRIPT
    if len(scripts) > 1 and not any(scripts <= together for together in _TOGETHER):
        raise wrong_field("name", f"letters of one script, got {' and '.join(sorted(scripts))}")
    zeros = {ord(c) - unicodedata.decimal(c) for c in name if unicodedata.category(c) == "Nd"}
    if len(zeros) > 1:
        raise wrong_field("name", "digits of one script")


def skeletons(name: str) -> frozenset[str]:
    """Return what a name looks like, once as it is written and once in small letters.

    Two names look alike if they have one of these in common.
    """
    # In capitals other letters look alike than in small ones, and neither Anna nor anna may have a double.
    return frozenset(_skeleton(written).casefold() for written in {name, name.casefold()})


@lru_cache(maxsize=_REMEMBERED)
def _skeleton(name: str) -> str:
    apart = unicodedata.normalize("NFD", name).translate(_UNJOINED)
    return unicodedata.normalize("NFD", prototype(apart))


class _Held(NamedTuple):
    """The name that a player has, the one they wanted, and what theirs looks like."""

    name: str
    wanted: str
    skeletons: frozenset[str]


class LentNames:
    """What players' names at other nodes look like, as those nodes have told.

    Attributes:
        owners: whose each look is, and how many names of theirs have it.
    """

    def __init__(self) -> None:
        self.owners: dict[str, Counter[bytes]] = {}

    def add(self, player: bytes, name: str) -> None:
        """Count a name once more for a player."""
        for skeleton in skeletons(name):
            self.owners.setdefault(skeleton, Counter())[player] += 1

    def drop(self, player: bytes, name: str) -> None:
        """Count a name once less for a player."""
        for skeleton in skeletons(name):
            owners = self.owners[skeleton]
            owners[player] -= 1
            if owners[player] <= 0:
                del owners[player]
            if not owners:
                del self.owners[skeleton]


class Names:
    """The names of everybody who is connected or seated, here; none of them is `lent` to anybody else at another node."""

    def __init__(self, lent: LentNames) -> None:
        self._lent = lent
        # Found in the store at the start. What they look like is worked out at the first login, which is when
        # it matters: a server with thousands of seats would listen later.
        self._unread: dict[bytes, str] = {}
        self._held: dict[bytes, _Held] = {}
        # By what it looks like. Names that are kept may look alike: it is taken until the last one is gone.
        self._owners: dict[str, tuple[bytes, ...]] = {}

    def __len__(self) -> int:
        """How many players have a name."""
        return len(self._held) + len(self._unread)

    def keep(self, player: bytes, name: str) -> None:
        """Note the name that a player has already, whatever others are called."""
        self._unread[player] = name

    def replace(self, player: bytes, name: str) -> None:
        """Note the name that a player has elsewhere, in place of any they have here."""
        self.drop(player)
        self.keep(player, name)

    def of(self, player: bytes) -> str | None:
        """Return the name that a player has."""
        self._read()
        held = self._held.get(player)
        return None if held is None else held.name

    def give(self, player: bytes, wanted: str) -> str:
        """Give a player the name they want, with a number if it looks like another's; return it."""
        self._read()
        held = self._held.get(player)
        # Asked for again, on another connection, it is the same number: a player has one name.
        if held is not None and wanted in (held.wanted, held.name):
            return held.name
        if held is not None:
            self.drop(player)
        given = _Held(wanted, wanted, skeletons(wanted))
        if not self._is_free(given.skeletons, player):
            name = self._numbered(wanted, player)
            given = _Held(name, wanted, skeletons(name))
        self._hold(player, given)
        return given.name

    def drop(self, player: bytes) -> None:
        """Free the name of a player who is gone."""
        self._unread.pop(player, None)
        held = self._held.pop(player, None)
        for skeleton in held.skeletons if held else ():
            others = tuple(owner for owner in self._owners[skeleton] if owner != player)
            if others:
                self._owners[skeleton] = others
            else:
                del self._owners[skeleton]

    def _read(self) -> None:
        unread, self._unread = self._unread, {}
        for player, name in unread.items():
            self.drop(player)  # they may have had another one here, which is free then
            self._hold(player, _Held(name, name, skeletons(name)))

    def _hold(self, player: bytes, held: _Held) -> None:
        self._held[player] = held
        for skeleton in held.skeletons:
            self._owners[skeleton] = (*self._owners.get(skeleton, ()), player)

    def _is_free(self, wanted: frozenset[str], player: bytes) -> bool:
        if not self._owners.keys().isdisjoint(wanted):
            return False
        lent = self._lent.owners
        return not lent or all(lent.get(each, {player: 1}).keys() == {player} for each in wanted)

    def _numbered(self, wanted: str, player: bytes) -> str:
        """Return a name with a number that is free."""
        base = _NUMBERED.sub("", wanted)
        names = (_cut(base, LONGEST - len(suffix)) + suffix for suffix in map(" {}".format, _numbers()))
        return next(name for name in names if self._is_free(skeletons(name), player))


def _numbers() -> Iterator[int]:
    """Yield numbers to try: the smallest in turn, then random ones with ever more digits.

    However many namesakes there are, one of the first ten or so is free; trying all in turn would take longer with each.
    """
    yield from range(_FIRST, _FEW)
    digits = 2
    while True:
        first = 10 ** (digits - 1)
        yield first + randbelow(9 * first)
        digits = min(digits + 1, _DIGITS)


def _cut(name: str, most: int) -> str:
    """Return the beginning of a name, of so many bytes at most."""
    return name.encode()[:most].decode(errors="ignore").rstrip(f" {_JOINERS}")
