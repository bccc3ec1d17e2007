"""The records that end: close of a hand, end of the match, acks."""

from msgspec.structs import replace

from truc_protocol.bodies import Ack, Close, End, SideScore
from truc_protocol.checks import CheckError
from truc_protocol.crypto import chains, keys
from truc_protocol.ledger.deals import server_link
from truc_protocol.ledger.opens import check_shown
from truc_protocol.ledger.replay import is_unsure, known_hands, replayed
from truc_protocol.ledger.state import (
    Events,
    HandLog,
    Ledger,
    Outcome,
    Pause,
    Taken,
    check_index,
    is_opened,
    score,
    side_scores,
    unopened,
)
from truc_protocol.records import Phase
from truc_rules import Match, RulesError, Score, is_hand_over, next_hand

_SERVER = "server"


def close(ledger: Ledger, body: Close) -> Taken:
    """Take the end of a hand; the next one begins with the score that its known cards prove.

    The events are all those of the hand, as these cards tell it; none if every card was known from the first.

    Raises:
        CheckError: C12, C14, C23, C24, C25.
    """
    check_index(ledger, body.j, _SERVER)
    if ledger.hand is None or ledger.match is None:
        raise CheckError("C24", "no hand is open to be closed", _SERVER)
    is_exposed = ledger.sealed is not None and ledger.sealed.exposed is not None
    # where a seat has been exposed, by its moves too, they prove nothing
    match, happened = (ledger.match, ()) if is_exposed else _proven(ledger.hand, ledger.match)
    reason = "ended" if ledger.phase is Phase.OVER else "hand"
    if reason == "hand" and not is_hand_over(match):
        raise CheckError("C24", "the hand is not over", _SERVER)
    if reason == "hand" and ledger.sealed is not None and not is_opened(ledger):
        raise CheckError("C24", f"the hand is not opened by seats {list(unopened(ledger))}", _SERVER)
    if body.reason != reason:
        raise CheckError("C24", f"expected the reason {reason}, got {body.reason!r}", _SERVER)
    # in mode blind a hand that has won the match is ended too, by who does not open it, and may be opened after that
    is_won = reason == "ended" and match.winner is not None and ledger.sealed is None
    if is_won and ledger.hand.is_known:
        raise CheckError("C24", "the match was won before it was ended otherwise", _SERVER)
    if reason == "hand":
        check_shown(ledger, ledger.hand, match)
    elif is_unsure(match):
        match = _believed(match, body.score)
    _check_score(side_scores(match), body.score)
    return _closed(server_link(ledger, body.link), match), happened


def _proven(hand: HandLog, match: Match) -> tuple[Match, Events]:
    """Return the state that the known cards prove, and all that happened, if it took some cards to prove it."""
    if hand.is_known:
        return match, ()
    try:
        return replayed(hand, known_hands(hand, match))
    except RulesError as error:
        message = f"deal {hand.call.j}: with the cards opened the rules refuse a move: {error}"
        raise CheckError("C25", message, _SERVER) from error


def _believed(match: Match, claimed: tuple[SideScore, SideScore]) -> Match:
    """Accept the claimed score of a hand that was cut short: only cards that stay closed until the end could confirm it."""
    first, second = claimed
    return match._replace(score=(Score(*first[1:]), Score(*second[1:])), games=(first[0], second[0]))


def _closed(ledger: Ledger, match: Match) -> Ledger:
    phase, outcome = ledger.phase, ledger.outcome
    if outcome is None and match.winner is not None:
        phase, outcome = Phase.OVER, Outcome(match.winner, "won")
    elif outcome is None:
        phase, match = Phase.BETWEEN, next_hand(match)
    return replace(
        ledger,
        phase=phase,
        deal_index=ledger.deal_index + 1,
        match=match,
        hand=None,
        call=None,
        released=(),
        sealed=None,
        cut=0,
        pause=Pause(ledger.pause.active),
        outcome=outcome,
    )


def _check_score(expected: tuple[SideScore, SideScore], claimed: tuple[SideScore, SideScore]) -> None:
    if claimed != expected:
        raise CheckError("C24", f"expected the score {expected}, got {claimed}", _SERVER)


def end(ledger: Ledger, body: End) -> Ledger:
    """Take the end of the match.

    Raises:
        CheckError: C24, C30, C31 the box key.
    """
    if ledger.hand is not None or ledger.outcome is None:
        raise CheckError("C24", "expected the open hand to be closed first", "server")
    _check_score(score(ledger), body.score)
    if (claimed := Outcome(body.winner, body.reason)) != ledger.outcome:
        raise CheckError("C24", f"expected {ledger.outcome}, got {claimed}", "server")
    _check_links(ledger, body)
    if keys.box_key(body.xsec).public != ledger.setup.terms.table.x:
        raise CheckError("C31", "the X25519 secret is not that of the table's key", "server")
    return replace(ledger, phase=Phase.ENDED)


def _check_links(ledger: Ledger, body: End) -> None:
    table = ledger.setup.terms.table
    due = tuple((first, anchor) for first, anchor in ledger.chain.all() if first < ledger.deal_index)
    if body.next_index != ledger.deal_index or tuple(first for first, _ in body.links) != tuple(
        first for first, _ in due
    ):
        message = f"expected index {ledger.deal_index} and chains {[first for first, _ in due]}"
        raise CheckError("C30", message, "server")
    for (first, anchor), (_, link) in zip(due, body.links, strict=True):
        newest = min(ledger.deal_index, first + table.links)
        if not chains.descends(table.spk, table.tn, known=(first, anchor), index=newest, link=link):
            raise CheckError("C30", f"link {newest} does not hash down to the chain from {first}", "server")


def ack(ledger: Ledger, body: Ack) -> Ledger:
    """Take a seat's signature under the final head.

    Raises:
        CheckError: C32.
    """
    if body.seat in ledger.acks:
        raise CheckError("C32", f"seat {body.seat} has signed its ack already")
    return replace(ledger, acks=ledger.acks | {body.seat})
