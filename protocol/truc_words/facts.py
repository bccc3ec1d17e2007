"""How the facts of a match are told: a sentence in the listener's language, with the game's own word for it.

Facts without a sentence (called, released, acked, cards committed and opened, state) are shown in other ways.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from truc_words.moves import ShowCard, local_label
from truc_words.speech import ENGLISH, Speech, joined, side_name

Fact = Mapping[str, Any]

_REST: Final = "rest"
_HAND_ENDS: Final = ("hand_won", "hand_drawn")


class ToldMove(NamedTuple):
    """The move a fact tells of: `field` is where the fact has its kind or, after a given kind, its value."""

    kind: str = ""
    field: str = ""
    answering: str = ""


FACT_MOVES: Final[Mapping[str, ToldMove]] = {
    "stood": ToldMove("stand"),
    "last_point_taken": ToldMove("accept", answering="last-point"),
    "last_point_declined": ToldMove("decline", answering="last-point"),
    "stake_asked": ToldMove("raise", "stake"),
    "stake_accepted": ToldMove("accept", answering="stake"),
    "stake_declined": ToldMove("decline", answering="stake"),
    "conceded": ToldMove("concede"),
    "envido_called": ToldMove(field="call"),
    "envido_accepted": ToldMove("accept", answering="envido"),
    "envido_declined": ToldMove("decline", answering="envido"),
    "value_yielded": ToldMove("good"),
    "flor_declared": ToldMove("flor"),
    "flor_folded": ToldMove("flor-fold"),
    "contraflor_called": ToldMove(field="call"),
    "contraflor_accepted": ToldMove("accept", answering="flor"),
    "flor_claimed": ToldMove("claim"),
}
"""The facts that are somebody's words, as moves."""

_SPLIT_BY_VALUE: Final[Mapping[str, str]] = {
    "trick_won": "leader",
    "trick_tied": "leader",
    "ruled": "ruling",
    "flor_claim_settled": "held",
    "order_given": "order",
    "envido_called": "call",
    "contraflor_called": "call",
    "unit_scored": "kept",
    "match_ended": "reason",
}
"""Facts that have a sentence of their own for some values of this field."""

_PEOPLE: Final = frozenset(
    {"seat", "leader", "target", "opponent", "giver", "receiver", "seats", "side", "winner", "role"}
)
"""Fields that say who."""


def as_told(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Return the facts of a record as they are told: after the last trick of a hand nobody leads."""
    # when a hand is closed nobody declares a flor any more: the cards show whose counted without a word
    if any(fact["what"] == "hand_closed" for fact in facts):
        return tuple({"what": "flor_counted"} if fact["what"] == "flor_declared" else fact for fact in facts)
    if not any(fact["what"] in _HAND_ENDS for fact in facts):
        return tuple(facts)
    return tuple({**fact, "leader": None} if "leader" in fact else fact for fact in facts)


def tell(
    fact: Fact, players: Sequence[str], card: ShowCard | None = None, speech: Speech = ENGLISH
) -> str | None:
    """Return a fact of a match as a sentence, or None for one that is shown in another way."""
    key = fact_key(fact)
    if key not in speech.catalogue.facts:
        return None
    filled = _Filled(players, card or speech.card, speech)
    values = {name: filled.text(name, value) for name, value in fact.items()}
    plain = speech.catalogue.facts[key]
    sentence = plain.format(unit=speech.counted("unit", 1), partner=_partner(fact, players), **values)
    own = speech.local.facts.get(fact["what"]) or _said(fact, speech)
    # "canta envido («envido»)" would say it twice; a name that is also such a word does not count
    return sentence if own is None or own in plain else f"{sentence} ({speech.quoted(own)})"


def _partner(fact: Fact, players: Sequence[str]) -> str:
    """Return who is ordered to play: orders are given to the partner, who sits opposite."""
    return players[(fact["seat"] + len(players) // 2) % len(players)] if "order" in fact else ""


def fact_key(fact: Fact) -> str:
    """Return the key of a fact in the catalogues."""
    what = str(fact["what"])
    if what not in _SPLIT_BY_VALUE:
        return what
    special = f"{what}-{str(fact[_SPLIT_BY_VALUE[what]]).lower()}"
    return special if special in ENGLISH.catalogue.facts else what


def _said(fact: Fact, speech: Speech) -> str | None:
    said = FACT_MOVES.get(fact["what"])
    if said is None:
        return None
    line = f"{said.kind} {fact[said.field]}".strip() if said.field else said.kind
    if f"{line}-{line}" in speech.local.moves:
        # the first and the second call have words of their own, and the fact does not tell which it is
        return None
    is_rest = fact["what"] == "stake_accepted" and fact["stake"] == _REST
    answering = _REST if is_rest and f"accept-{_REST}" in speech.local.moves else said.answering
    return local_label(line, fact, speech, answering=answering)


class _Filled(NamedTuple):
    """What the values of a fact are called."""

    players: Sequence[str]
    card: ShowCard
    speech: Speech

    def text(self, name: str, value: Any) -> str:
        match name:
            case _ if name in _PEOPLE:
                return self._who(name, value)
            case "stake":
                return self.speech.stake(value)
            case "card":
                return self.card(value)
            case "cards":
                return " ".join(self.card(item) for item in value) if isinstance(value, list | tuple) else ""
            case "each" | "points" | "kept":
                return self.speech.counted("card" if name == "each" else "point", value)
            case _:
                return self._word(name, value)

    def _who(self, name: str, value: Any) -> str:
        said = self.speech.catalogue.said
        if name in ("side", "winner"):
            return "" if value is None else side_name(value, self.players, self.speech)
        if name == "seats":
            return joined([self.players[seat] for seat in value], self.speech)
        if name == "role":
            return self.players[value - 1] if value else said["the_server"]
        return said["everybody"] if value is None else self.players[value]

    def _word(self, name: str, value: Any) -> str:
        match name:
            case "order":
                return self.speech.catalogue.ranks.get(value, str(value))
            case "reason":
                return self.speech.reason(value)
            case _:
                return "" if value is None else str(value)
