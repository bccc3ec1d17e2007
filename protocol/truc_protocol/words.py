"""English words for people: what each move is called and means, and how each fact of a match is told.

One table for moves, one for facts; a client shows them, nothing decides by them. Names and cards are given in by the
caller, who knows how its screen shows them. Text that came from others passes through `printable` or `shown_name` first.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

Fact = Mapping[str, Any]
ShowCard = Callable[[str], str]

_LONGEST_NAME: Final = 24
_REST: Final = ("rest", "game")


class MoveWords(NamedTuple):
    """A kind of move: its label, in which {card}, {stake} and {value} are filled in, and what it means."""

    label: str
    meaning: str


MOVES: Final[Mapping[str, MoveWords]] = {
    "play": MoveWords(
        "play {card}", "Lay the card on the table; the best card of the round takes the trick."
    ),
    "cover": MoveWords("play {card} face down", "Play a card unseen; it takes no trick."),
    "blind": MoveWords("play card {value} unseen", "Play one of your own cards without having looked at it."),
    "show": MoveWords("show {card}", "Open cards to everybody."),
    "raise": MoveWords(
        "ask for {stake}", "Ask to play for more. Declining it gives the hand away at the old stake."
    ),
    "accept": MoveWords("accept", "Agree to what was asked or proposed."),
    "decline": MoveWords(
        "decline", "Refuse what was asked or proposed; refusing a stake gives the hand away."
    ),
    "concede": MoveWords(
        "give the hand up", "The other side scores the present stake and a new hand is dealt."
    ),
    "cut": MoveWords("cut the pack", "Three cards each, from the pack as you cut it."),
    "tap": MoveWords("tap the pack", "Leave the pack as it is; the dealer may then deal one card each."),
    "deal": MoveWords("deal {value} each", "How many cards everybody gets in this hand."),
    "redeal": MoveWords(
        "propose new cards", "Ask for other cards from the rest of the pack; it needs consent."
    ),
    "stand": MoveWords("play these cards", "Keep the cards and begin."),
    "envido": MoveWords("envido", "Bet on the best pair of one suit."),
    "real-envido": MoveWords("real envido", "Bet more on the best pair of one suit."),
    "falta-envido": MoveWords("falta envido", "Bet what the leader lacks on the best pair of one suit."),
    "points": MoveWords("say {value}", "Say your points aloud."),
    "good": MoveWords("they are good", "Give in without saying your points."),
    "silent": MoveWords("stay silent", "Leave the answer to your partner."),
    "flor": MoveWords("flor", "Declare three cards of one suit."),
    "flor-fold": MoveWords("flor, but fold", "Declare flor and give in."),
    "contraflor": MoveWords("contraflor", "Answer a flor with a higher bet."),
    "contraflor-rest": MoveWords("contraflor for the rest", "Answer a flor with a bet for the whole game."),
    "claim": MoveWords("claim a flor of seat {value}", "Say that somebody kept a flor quiet."),
    "order": MoveWords("order {value}", "Tell your partner what to play."),
    "pause": MoveWords("ask for a pause", "The match rests once every seat has asked."),
    "resume": MoveWords("ask to go on", "The pause ends once every seat has asked."),
    "resign": MoveWords("resign the match", "The other side wins the match."),
}

FACTS: Final[Mapping[str, str]] = {
    "cut_made": "{seat} cuts the pack",
    "tapped": "{seat} taps the pack",
    "card_count_chosen": "{seat} deals {each} each",
    "dealt": "everybody has {each} new cards",
    "redeal_proposed": "{seat} proposes new cards",
    "redeal_agreed": "{seat} agrees to new cards",
    "redeal_granted": "{seat} agrees: new cards",
    "redeal_refused": "{seat} refuses new cards",
    "stood": "{seat} plays these cards",
    "last_point_asked": "{side}: at the last point, to play or not?",
    "last_point_taken": "{seat} plays, for {stake}",
    "last_point_declined": "{seat} does not play",
    "game_staked": "both sides are at their last point: this hand decides the game",
    "card_played": "{seat} plays {card}",
    "stake_asked": "{seat} asks for {stake}",
    "stake_accepted": "{seat} accepts: the hand is worth {stake}",
    "stake_declined": "{seat} declines",
    "conceded": "{seat} gives the hand up",
    "trick_won": "the trick goes to {side}; {leader} leads",
    "trick_tied": "the trick is tied; {leader} leads",
    "hand_won": "the hand goes to {side}",
    "hand_drawn": "nobody has the hand",
    "points_scored": "{points} for {side} ({reason})",
    "game_won": "the game goes to {side}",
    "match_won": "the match goes to {side}",
    "first_dealer_drawn": "{seat} is drawn as the first dealer",
    "ruled": "the server rules: {ruling} {kind} for {seat} (its word that time ran out, not proven)",
    "deal_voided": "the server voids the deal: {seats} stayed silent (its word, not proven)",
    "match_ended": "the match is over: {reason}",
    "resigned": "{seat} resigns the match",
    "seat_substituted": "somebody new sits on seat {seat}",
    "rekeyed": "{role} starts a new chain",
}
"""Facts that are told in words; the others (called, released, acked, cards committed and opened, state) are shown."""

_RESTS: Final[Mapping[str, str]] = {
    "pause": "the match rests, as every player has asked",
    "resume": "the match goes on",
}
"""The rulings that are no word against anybody."""


def printable(text: str) -> str:
    """Return text that came from others without what a terminal would obey."""
    return "".join(sign for sign in text if sign.isprintable())


def shown_name(name: str, seat: int) -> str:
    """Return a player's name as it may be shown: printable, short, never empty."""
    return printable(name).strip()[:_LONGEST_NAME] or f"seat {seat}"


def move_label(line: str, hints: Mapping[str, int | str], card: ShowCard = str) -> str:
    """Return the words for a move line, with what its hints tell about stakes."""
    kind, *rest = line.split()
    words = MOVES[kind]
    cards = " ".join(card(name) for name in rest) if kind != "play" else card(rest[0])
    value = " ".join(rest)
    label = words.label.format(card=cards, stake=_stake(value), value=value)
    if kind == "play" and len(rest) > 1:
        label += f" and ask for {_stake(rest[-1])}"
    return label + _hinted(kind, hints)


def _stake(stake: object) -> str:
    return "the whole game" if stake in _REST else str(stake)


def _hinted(kind: str, hints: Mapping[str, int | str]) -> str:
    if "declined" in hints:
        return f" (worth {hints['declined']} if they decline)"
    if "loses" in hints:
        return f" (they score {_stake(hints['loses'])})"
    if "stake" in hints and kind in ("accept", "play"):
        return f" (the hand is worth {_stake(hints['stake'])})"
    return ""


def move_meaning(kind: str) -> str:
    """Return a sentence that explains a kind of move."""
    return MOVES[kind].meaning


def tell(fact: Fact, players: Sequence[str], card: ShowCard = str) -> str | None:
    """Return a fact of a match as a sentence, None for those that are shown in another way."""
    sentence = _RESTS.get(fact["ruling"]) if fact["what"] == "ruled" else None
    sentence = sentence or FACTS.get(fact["what"])
    return sentence and sentence.format_map(_filled(fact, players, card))


def _filled(fact: Fact, players: Sequence[str], card: ShowCard) -> dict[str, str]:
    return {name: _filled_in(name, value, players, card) for name, value in fact.items()}


def _filled_in(name: str, value: Any, players: Sequence[str], card: ShowCard) -> str:
    match name:
        case "seat" | "leader":
            text = "everybody" if value is None else players[value]
        case "seats":
            text = " and ".join(players[seat] for seat in value)
        case "side":
            text = side_name(value, players)
        case "role":
            text = players[value - 1] if value else "the server"
        case "stake":
            text = _stake(value)
        case "card":
            text = card(value)
        case _:
            text = "" if value is None else str(value)
    return text


def side_name(side: int, players: Sequence[str]) -> str:
    """Return how a side is called: by the names of its seats."""
    return " and ".join(players[side::2])
