"""What a record means, for a client that does not know the rules: a list of maps of plain facts, derived and unsigned.

Each map has `what`: the rules' events under their own names in lower_snake, then facts of the record itself (a ruling
comes before what it brings about), and last `state`: the score, the stake, and whose decision is awaited. Cards are
written as people write them.
"""

import re
from functools import cache
from operator import attrgetter
from typing import Any, Final

from truc_protocol import bodies, dealing
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger.state import Ledger, seats_missing, side_scores
from truc_protocol.records import Phase
from truc_rules import REST, TRUT, Event, deciders_in_view, is_score_open

Fact = dict[str, Any]

RECORD_FACTS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "called": (
        ("index", "dealer", "cards"),
        "The next deal was called: every keyed seat now releases its link.",
    ),
    "released": (("seat",), "A seat opened its link of this deal."),
    "first_dealer_drawn": (("seat",), "The first dealer was drawn from everybody's links."),
    "hands_committed": (("digests",), "The hands are dealt and committed to: one digest for each seat."),
    "cards_opened": (
        ("seat", "cards"),
        "The server opened these cards of a seat: the rules make the seat show them, or it has played one unseen.",
    ),
    "hand_shared": (("giver", "receiver"), "A seat was shown its partner's cards."),
    "ruled": (
        ("ruling", "seat", "kind"),
        "The server ruled, on its own word, that time had run out; or, for a pause, that every seat had asked for it.",
    ),
    "deal_voided": (("seats",), "The deal did not happen: these seats did not release."),
    "hand_closed": (("reason",), "The hand is closed; `reason` is `ended` if the match stopped within it."),
    "hands_opened": (("cards",), "Every card of the newest deal of the hand, by seat."),
    "pause_asked": (("seat",), "A seat asked for a pause."),
    "resume_asked": (("seat",), "A seat asked to go on."),
    "resigned": (("seat",), "A seat gave up the match."),
    "rekeyed": (("role",), "A contributor began a new chain: 0 the server, i + 1 seat i."),
    "seat_substituted": (("seat",), "A newcomer took over the seat."),
    "match_ended": (("winner", "reason"), "The match is over; `winner` is a side, or nil."),
    "acked": (("seat",), "A seat signed the end of the match."),
}
"""What the records themselves say, besides the rules' events: fields and meaning of each `what`."""

_ASIDES: Final = {"pause": "pause_asked", "resume": "resume_asked", "resign": "resigned"}
"""What a seat says that is not a move: the kind of the act, and its fact."""
# looked up once: an Enum lookup is expensive
_CALLED, _HAND, _BETWEEN = Phase.CALLED, Phase.HAND, Phase.BETWEEN
_SIDE_OF_TRICK: Final = attrgetter("side")
_NO_SCORES: Final = ((0, 0, 0), (0, 0, 0))
_LOCKED: Final = {REST: "game", TRUT: TRUT}
"""What a hand is worth where it is not points: the whole game, or a whole unit."""


def means(
    body: bodies.AnyBody,
    after: Ledger,
    events: tuple[Event, ...],
    dealt: DealtCards | None = None,
    in_view: tuple[int, ...] | None = None,
) -> list[Fact]:
    """Return what a record means; `dealt` are the newest cards of the hand it opens, if it opens one.

    `in_view` is who decides now as far as everybody may know, if whoever asks knows it already.
    """
    pack = after.setup.terms.variant.pack
    facts = [event_fact(event, pack) for event in events] if events else []
    match body:
        case bodies.Act(kind=kind) | bodies.Proxy(kind=kind) if kind not in _ASIDES:
            pass  # first, as most records are moves, which the rules' events tell
        case bodies.Rule():
            facts = [_fact("ruled", body.ruling, body.seat, body.kind), *facts]
        case _:
            fact = _record_fact(body, pack)
            if fact is not None:
                facts.append(fact)
    if dealt is not None:
        opened = [[pack[opening.card] for opening in hand] for hand in dealt.hands]
        facts.append(_fact("hands_opened", opened))
    return [*facts, state_fact(after, in_view)]


def event_fact(event: Event, pack: tuple[str, ...]) -> Fact:
    """Return an event of the rules as a fact, its cards by their names."""
    fact: Fact = {"what": fact_name(type(event).__name__), **dict(zip(event._fields, event, strict=True))}
    if "card" in fact:
        fact["card"] = pack[fact["card"]]
    if "cards" in fact:
        fact["cards"] = [pack[card] for card in fact["cards"]]
    return fact


@cache
def fact_name(event: str) -> str:
    """Return the name of an event's facts: the name of its class in lower_snake."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def _fact(what: str, *values: Any) -> Fact:
    fields, _ = RECORD_FACTS[what]
    return {"what": what, **dict(zip(fields, values, strict=True))}


def _record_fact(body: bodies.AnyBody, pack: tuple[str, ...]) -> Fact | None:
    match body:
        case bodies.Act() | bodies.Proxy():
            return _fact(_ASIDES[body.kind], body.seat)
        case bodies.Call():
            return _fact("called", body.j, body.dealer, body.ncards)
        case bodies.Release():
            return _fact("released", body.seat)
        case bodies.Draw():
            return _fact("first_dealer_drawn", body.first)
        case bodies.Deal():
            return _fact("hands_committed", _digests(body))
        case bodies.Open():
            return _fact("cards_opened", body.seat, [pack[card] for _, card, _ in body.openings])
        case bodies.Share():
            return _fact("hand_shared", body.giver, body.receiver)
        case bodies.Void():
            return _fact("deal_voided", list(body.seats))
        case bodies.Close():
            return _fact("hand_closed", body.reason)
        case bodies.End():
            return _fact("match_ended", body.winner, body.reason)
        case _:
            return _seat_fact(body)


def _seat_fact(body: bodies.AnyBody) -> Fact | None:
    """Return what a seat did besides its moves, which the rules' events tell."""
    match body:
        case bodies.Resign():
            return _fact("resigned", body.seat)
        case bodies.Rekey():
            return _fact("rekeyed", body.role)
        case bodies.Sub():
            return _fact("seat_substituted", body.seat)
        case bodies.Ack():
            return _fact("acked", body.seat)
        case _:
            return None


def _digests(body: bodies.Deal) -> list[bytes]:
    return [
        dealing.hand_digest(body.mid, j=body.j, d=body.d, seat=seat, leaves=leaves)
        for seat, leaves in enumerate(body.leaves)
    ]


def state_fact(ledger: Ledger, in_view: tuple[int, ...] | None = None) -> Fact:
    """Return where a match stands: phase, score, and in a hand the stake, the tricks and whose decision it is.

    `paused` is present, and true, only while the match rests.
    """
    match, phase = ledger.match, ledger.phase
    scores = _NO_SCORES if match is None else side_scores(match)
    fact: Fact = {"what": "state", "phase": str(phase), "score": [*map(list, scores)]}
    if ledger.pause.active:
        fact["paused"] = True
    if phase is _CALLED:
        fact["waiting"] = list(seats_missing(ledger))
    elif match is not None and (phase is _HAND or phase is _BETWEEN):
        # a card played unseen is opened first, by the server or by everybody's keys: nobody decides until then
        opens = ledger.hand is not None and ledger.hand.unseen is not None
        bets = match.hand.bets
        fact["dealer"] = match.dealer
        fact["stake"] = bets.stake if bets.locked is None else _LOCKED.get(bets.locked, bets.stake)
        fact["tricks"] = [*map(_SIDE_OF_TRICK, match.hand.row.tricks)]
        # not all deciders: whoever may answer only by an undeclared flor would be given away by being named
        fact["waiting"] = [] if opens else list(deciders_in_view(match) if in_view is None else in_view)
    return fact


def is_score_minimum(ledger: Ledger) -> bool:
    """Tell whether the points told are the least they can be: a claim that unknown cards leave open may change them."""
    return ledger.match is not None and is_score_open(ledger.match)
