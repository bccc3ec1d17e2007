"""What a record means, for a client without rules: a list of maps of plain facts, derived and unsigned.

Each map has `what`: the rules' events under their own names in lower_snake, then facts of the record itself, and last
`state`: the score, the stake, and whose decision is waited for. Cards are written as people write them.
"""

import re
from typing import Any, Final

from truc_protocol import dealing
from truc_protocol.bodies import (
    Ack,
    AnyBody,
    Call,
    Close,
    Deal,
    Draw,
    End,
    Rekey,
    Release,
    Resign,
    Rule,
    Sub,
    Void,
)
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Ledger, missing, score
from truc_protocol.records import Phase
from truc_rules import Event, Match, deciders, hand_over

Fact = dict[str, Any]
_WORD_START: Final = re.compile(r"(?<!^)(?=[A-Z])")


def means(
    body: AnyBody, after: Ledger, events: tuple[Event, ...], dealt: DealtCards | None = None
) -> list[Fact]:
    """Return what a record means; `dealt` are the newest cards of the hand it opens, if it opens one."""
    pack = after.setup.terms.variant.pack
    facts = [_event_fact(event, pack) for event in events]
    fact = _record_fact(body)
    if fact is not None:
        facts.append(fact)
    if dealt is not None:
        facts.append(
            {"what": "hands_opened", "cards": [[pack[card] for card, _ in hand] for hand in dealt.hands]}
        )
    return [*facts, state_fact(after)]


def _event_fact(event: Event, pack: tuple[str, ...]) -> Fact:
    fact: Fact = {"what": _WORD_START.sub("_", type(event).__name__).lower()}
    for name, value in zip(event._fields, event, strict=True):
        fact[name] = pack[int(value)] if name == "card" else value
    return fact


def _record_fact(body: AnyBody) -> Fact | None:
    match body:
        case Call():
            return {"what": "called", "index": body.j, "dealer": body.dealer, "cards": body.ncards}
        case Release():
            return {"what": "released", "seat": body.seat}
        case Draw():
            return {"what": "first_dealer_drawn", "seat": body.first}
        case Deal():
            return {"what": "hands_committed", "digests": _digests(body)}
        case Rule():
            return {"what": "ruled", "ruling": body.ruling, "seat": body.seat, "kind": body.kind}
        case Void():
            return {"what": "deal_voided", "seats": list(body.seats)}
        case Close():
            return {"what": "hand_closed", "reason": body.reason}
        case End():
            return {"what": "match_ended", "winner": body.winner, "reason": body.reason}
        case Resign() | Ack() | Sub():
            words = {Resign: "resigned", Ack: "acked", Sub: "seat_substituted"}
            return {"what": words[type(body)], "seat": body.seat}
        case Rekey():
            return {"what": "rekeyed", "role": body.role}
        case _:
            return None


def _digests(body: Deal) -> list[bytes]:
    return [
        dealing.hand_digest(body.mid, j=body.j, d=body.d, seat=seat, leaves=leaves)
        for seat, leaves in enumerate(body.leaves)
    ]


def state_fact(ledger: Ledger) -> Fact:
    """Return where a match stands: phase, score, and in a hand the stake, the tricks and whose decision it is."""
    fact: Fact = {
        "what": "state",
        "phase": str(ledger.phase),
        "score": [list(side) for side in score(ledger)],
    }
    if ledger.phase is Phase.CALLED:
        fact["waiting"] = list(missing(ledger))
    elif ledger.match is not None and ledger.phase in (Phase.HAND, Phase.BETWEEN):
        fact |= _hand_state(ledger.match)
    return fact


def _hand_state(match: Match) -> Fact:
    bets, row = match.hand.bets, match.hand.row
    return {
        "dealer": match.dealer,
        "stake": "game" if bets.locked else bets.stake,
        "tricks": [trick.side for trick in row.tricks],
        "waiting": [] if hand_over(match) else list(deciders(match)),
    }
