"""What a record of a transcript says, in sentences.

What players say and do is told by the catalogues, in any of their languages; what has no sentence there, in English.
"""

from collections.abc import Iterator
from typing import Final, assert_never

from truc_client.course.annotating import (
    Annotated,
    BegunChain,
    Commitment,
    CommittedHand,
    OpenedCard,
    OpenedDeal,
    OpenedLink,
    OpenedSecret,
)
from truc_client.course.faces import short
from truc_client.happenings import Fact
from truc_client.verifying import game_name, named_seat, quoted, quoted_name, score_words
from truc_protocol.setup import Opts
from truc_protocol.words import ENGLISH, Speech, tell

_SCORED: Final = ("close", "end")


def sentences(each: Annotated, lang: str) -> Iterator[str]:
    """Yield what a record says, a sentence for each fact that has one, in a language and the words of the game."""
    yield from filter(None, (told(fact, each, lang) for fact in each.facts))


def told(fact: Fact, each: Annotated, lang: str) -> str:
    """Return the sentence for one fact of a record; empty if there is none."""
    return tell(fact, _names(each), speech=Speech(lang, each.words)) or _plainly(fact, each)


def role_name(each: Annotated, role: int) -> str:
    """Return a role as it is told: a player always with the seat, as a name may be anything."""
    if role == 0:
        return "the server"
    return named_seat(each.names[role - 1], role - 1) if role <= len(each.names) else f"seat {role - 1}"


def commitment_lines(commitment: Commitment, each: Annotated) -> Iterator[str]:
    """Yield what a commitment is that a record makes, or what opens it."""
    match commitment:
        case BegunChain(role, first, anchor):
            yield f"{role_name(each, role)} commits to secret numbers for the deals from {first}: {anchor.hex()}"
        case OpenedLink(role, number, first, link):
            chain = f"of the chain for the deals from {first}"
            yield f"{role_name(each, role)} opens number {number} {chain}: {link.hex()}"
        case CommittedHand():
            name = role_name(each, commitment.seat + 1)
            cards = ENGLISH.counted("card", len(commitment.leaves))
            yield f"{cards} for {name}, bound by the digest {short(commitment.digest)}"
        case OpenedCard():
            name, slot = role_name(each, commitment.seat + 1), commitment.slot + 1
            fits = f"with the salt {commitment.salt.hex()} it hashes to its leaf {short(commitment.leaf)}"
            yield f"{commitment.card}, card {slot} of {name}: {fits}"
        case OpenedDeal():
            yield from _deal_lines(commitment, each)
        case OpenedSecret():
            yield "the server's key of all sealed hands is open; each was made again, and is the same"
        case _:
            assert_never(commitment)


def _names(each: Annotated) -> tuple[str, ...]:
    return tuple(quoted_name(name, seat) for seat, name in enumerate(each.names))


def _plainly(fact: Fact, each: Annotated) -> str:
    """Return what the catalogues have no sentence for, as a player's screen shows it in other ways; empty if nothing."""
    match fact["what"]:
        case "called":
            return _called(fact, each)
        case "released":
            return f"{role_name(each, fact['seat'] + 1)} opens a secret number for this deal"
        case "acked":
            return f"{role_name(each, fact['seat'] + 1)} confirms the end of the match"
        case "hand_closed":
            return "the hand is closed" if fact["reason"] == "hand" else "the hand is cut short"
        case "state":
            return _score(fact, each) if each.kind in _SCORED else ""
        case _:
            return _of_setup(fact, each)


def _called(fact: Fact, each: Annotated) -> str:
    if not fact["cards"]:
        return f"deal {fact['index']} is called: it draws the first dealer"
    cards = ENGLISH.counted("card", fact["cards"])
    return f"deal {fact['index']} is called: {role_name(each, fact['dealer'] + 1)} deals {cards} to each seat"


def _score(fact: Fact, each: Annotated) -> str:
    names = [named_seat(name, seat) for seat, name in enumerate(each.names)]
    return f"score: {score_words(fact['score'], names)}"


def _of_setup(fact: Fact, each: Annotated) -> str:
    match fact["what"]:
        case "table_offered":
            terms = ", ".join(f"{name} {fact[name]}" for name in Opts._fields)
            played = game_name(fact["variant"], is_preset=fact["is_preset"])
            game = f"{played} for {fact['seats']}, cards open at the end of each {fact['reveal']}"
            return f"the terms of the server {quoted(fact['server'])}: {game}; {terms}"
        case "seat_taken":
            return f"{role_name(each, fact['seat'] + 1)} joins these terms with the key {fact['key'].hex()}"
        case "guest_seated":
            return f"{role_name(each, fact['seat'] + 1)} is seated as a guest, without a key"
        case "match_begun":
            return f"the match {fact['match'].hex()} begins, assurance level {fact['level']}"
        case _:
            return ""


def _deal_lines(deal: OpenedDeal, each: Annotated) -> Iterator[str]:
    yield f"deal {deal.j}, seed from everybody's numbers: {deal.seed.hex()}"
    yield f"the pack, shuffled and cut: {' '.join(deal.pack)}"
    for d, hands in enumerate(deal.hands):
        held = "; ".join(f"{role_name(each, seat + 1)} {' '.join(cards)}" for seat, cards in enumerate(hands))
        yield f"held{' after a redeal' if d else ''}: {held}"
    if deal.up:
        yield f"turned up: {' '.join(deal.up)}"
    left = [
        f"{role_name(each, seat + 1)} {' '.join(cards)}" for seat, cards in enumerate(deal.unplayed) if cards
    ]
    if left:
        yield f"not played: {'; '.join(left)}"
