"""What moves are called: in the words of the game, where it has its own, and explained in the listener's language."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from types import MappingProxyType

from truc_words.catalogue import catalogue
from truc_words.speech import ENGLISH, Speech

ShowCard = Callable[[str], str]
Hints = Mapping[str, int | str]

_PLAY, _RAISE, _ORDER, _CLAIM = "play", "raise", "order", "claim"
_REST, _ASK_REST, _TAKE_REST = "rest", "raise-rest", "accept-rest"
_ANSWERS = ("accept", "decline")


def move_label(
    line: str,
    hints: Hints,
    card: ShowCard = str,
    speech: Speech = ENGLISH,
    *,
    answering: str = "",
    players: Sequence[str] = (),
) -> str:
    """Return the words for a move line, with what its hints tell.

    `answering` is what the move answers, if that is known: "stake", "envido", "flor", "redeal" or "last-point". Without
    the players' names a seat is given by its number. A line of an unknown kind is returned as it is.
    """
    if not _is_known(line):
        return line
    label, explained = _label(line, hints, card, speech, answering=answering, players=players)
    # figures that the words name already are not told again
    said = {word for text in (label, *explained) for word in text.split()}
    return speech.noted(label, [*explained, *_hinted(line.split(maxsplit=1)[0], hints, speech, said)])


def _label(
    line: str, hints: Hints, card: ShowCard, speech: Speech, *, answering: str, players: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Return the label and, if it is in the game's own words, what it means in the listener's."""
    play, with_ask, stake = line.partition(f" {_RAISE} ")
    asked = f"{_RAISE} {stake}" if with_ask else line
    answering = _taken(asked, hints) or answering
    plain = plain_label(asked, card, speech, answering=answering, players=players)
    own = local_label(asked, hints, speech, answering=answering)
    if not with_ask:
        return (plain, ()) if own in (None, plain) else (str(own), (plain,))
    played = plain_label(play, card, speech)
    if own is None:
        return speech.catalogue.said["play_and_ask"].format(play=played, ask=plain), ()
    return f"{played}: {own}", (plain,)


def _is_known(line: str) -> bool:
    kind, *_ = line.split() or [""]
    return kind in catalogue("en").moves


def _taken(line: str, hints: Hints) -> str:
    """Return `rest` if a line takes the remainder that the other side asked for: then nothing is left to decline."""
    return _REST if line == f"{_RAISE} {_REST}" and "stake" in hints and "declined" not in hints else ""


def move_key(line: str, answering: str) -> str:
    """Return the key of a move line in the catalogues; to answer `rest` with a raise is to take it."""
    kind, *rest = line.split()
    if kind == _RAISE and answering == _REST:
        return _TAKE_REST
    special = f"{kind}-{rest[0]}" if kind in (_ORDER, _RAISE) and rest else f"{kind}-{answering}"
    return special if special in catalogue("en").moves else kind


def plain_label(
    line: str, card: ShowCard, speech: Speech, *, answering: str = "", players: Sequence[str] = ()
) -> str:
    """Return the words for a move line in the listener's language alone."""
    kind, *rest = line.split()
    words = speech.catalogue.moves[move_key(line, answering)]
    value = " ".join(rest)
    if kind == _ORDER:
        value = speech.catalogue.ranks.get(value, value)
    if kind == _CLAIM:
        named = dict(zip(map(str, range(len(players))), players, strict=True))
        value = named.get(value) or speech.catalogue.said["seat"].format(n=value)
    return words.label.format(card=" ".join(map(card, rest)), stake=speech.stake(value), value=value)


def local_label(line: str, hints: Hints, speech: Speech, *, answering: str) -> str | None:
    """Return the game's own words for a move line, or None if it has none."""
    moves, general = speech.local.moves, move_key(line, answering)
    # a word for accepting a stake is not one for accepting new cards
    is_answer = general.startswith(_ANSWERS) and general not in _ANSWERS
    kind = line.split(maxsplit=1)[0]
    special = (general,) if general != kind else ()
    # the most specific word that the game has
    for key in (general,) if is_answer else (*special, line, _step(line, hints), kind):
        if key in moves:
            return moves[key].format(stake=line.partition(" ")[2])
    return None


def _step(line: str, hints: Hints) -> str:
    """Return `raise +2` for an ask for two more than the hand is worth now."""
    stake, now = hints.get("stake"), hints.get("declined")
    if line.startswith(f"{_RAISE} ") and isinstance(stake, int) and isinstance(now, int):
        return f"{_RAISE} +{stake - now}"
    return ""


def own_label(line: str, speech: Speech, *, answering: str = "") -> str:
    """Return the words for a move line in the game's own tongue: its own words, else those of the tongue."""
    own = local_label(line, {}, speech, answering=answering)
    return plain_label(line, str, speech.own, answering=answering) if own is None else own


def _hinted(kind: str, hints: Hints, speech: Speech, told: Container[str]) -> Iterator[str]:
    """Yield what the hints add to the words `told` so far."""
    said = speech.catalogue.said
    if "points" in hints and str(hints["points"]) not in told:
        yield said["bet_worth"].format(points=hints["points"])
    if "declined" in hints:
        yield said["if_declined"].format(declined=hints["declined"])
    elif "loses" in hints:
        yield said["they_score"].format(loses=speech.stake(hints["loses"]))
    elif "stake" in hints and kind in ("accept", _PLAY):
        yield said["hand_worth"].format(stake=speech.stake(hints["stake"]))


def move_meaning(
    line: str, speech: Speech = ENGLISH, hints: Hints = MappingProxyType({}), *, answering: str = ""
) -> str:
    """Return a sentence that explains a move line, or a kind of move; an empty one for an unknown kind."""
    if not _is_known(line):
        return ""
    key = move_key(line, _taken(line, hints) or answering)
    if key == _ASK_REST and _TAKE_REST in speech.local.moves:
        key = f"{_ASK_REST}-same"
    return speech.catalogue.moves[key].meaning
