"""The fold: one record after another, each checked against all before it; and the records that end a hand and the match.

`fold` is what the server does with every record it is about to make durable, and what the auditor does with every
record it is given. It does not verify signatures, nor that their seats have keys (the caller has, or has just made them),
and does not recompute a whole deal (the auditor does); everything else that the records alone decide is checked here.
The checks of each kind of record stand in the order of specification.md 11, "Order": where several fail, every verifier
has to name the same one.
"""

from typing import Final, assert_never

import msgspec
from msgspec.structs import replace

from truc_protocol.bodies import (
    Ack,
    Act,
    AnyBody,
    Call,
    Close,
    Deal,
    Draw,
    End,
    Garbled,
    Keys,
    Lend,
    Lock,
    Mask,
    Open,
    Placed,
    Proxy,
    Rekey,
    Release,
    Resign,
    Rule,
    Share,
    SideScore,
    Sub,
    Void,
)
from truc_protocol.checks import CheckError, role_name
from truc_protocol.crypto import chains, keys
from truc_protocol.ledger import blind_records, deals, opens, play, rulings
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
    must_end,
    next_share,
    score,
    seats_unopened,
    side_scores,
)
from truc_protocol.records import KIND_OF, KINDS, PHASES, Binding, Phase, Record, next_head, tag_of
from truc_rules import Event, Kind, Match, RulesError, Score, is_hand_over, next_hand

_SERVER = "server"
SilentBody = Call | Draw | Void | Rekey | Sub | Share | Resign | End | Ack | Garbled
"""Records that bring no event of the rules."""
MatchBody = SilentBody | Deal | Act | Proxy | Release | Rule | Open | Close | Mask | Lock | Keys | Lend
# looked up once: an Enum lookup is expensive
_HAND, _BETWEEN, _PARALLEL = Phase.HAND, Phase.BETWEEN, Binding.PARALLEL
_AFTER_OPENS: Final = (Open, Close)
"""What may follow the cards that are opened at the end of a hand."""
_IN_A_PAUSE: Final = (Act, Proxy, Rule, Resign, Open, Close, End, Ack, Release)
"""What may stand in a pause; the opens and the close of a hand that is over need no decision of anybody, nor do its links."""


_SEATS_NAMED: Final = {
    kind.body: [name for name in ("seat", "giver", "receiver") if name in kind.body.__struct_fields__]
    for kind in KINDS
}
"""By body, the fields that name a seat; those that a void names are judged as a whole (C26)."""


class FoldedRecord(msgspec.Struct, frozen=True):
    """The ledger after a record, and what happened in the rules."""

    ledger: Ledger
    events: tuple[Event, ...]


class PlacedRecord(msgspec.Struct, frozen=True):
    """A record that may stand next after `ledger`: what `check_place` has made sure of, so that it is not asked twice."""

    ledger: Ledger
    record: Record
    body: MatchBody
    is_parallel: bool


def fold(ledger: Ledger, record: Record, body: AnyBody, *, is_known: bool = False) -> FoldedRecord:
    """Take one record, already parsed; `is_known` as `take` has it.

    Raises:
        CheckError: The first check that fails; the ledger stays as it was.
    """
    return take(check_place(ledger, record, body), is_known=is_known)


def take(placed: PlacedRecord, *, is_known: bool = False) -> FoldedRecord:
    """Take a record that is in its place.

    `is_known` says of a hand in mode blind that it was folded here before, and exposed nobody: then the points of its steps
    and what its links show, which take most of the time, are not checked again.

    Raises:
        CheckError: The first check of its content that fails; the ledger stays as it was.
    """
    ledger, body = placed.ledger, placed.body
    match body:
        case Act() | Proxy():  # first, as most records are moves
            taken, events = play.act(ledger, body)
        case Deal():
            taken, events = deals.take_deal(ledger, body)
        case Rule():
            taken, events = rulings.rule(ledger, body)
        case Open():
            taken, events = opens.open_cards(ledger, body)
        case Close():
            taken, events = _close(ledger, body)
        case Release():
            is_of_hand = ledger.blind_hand is not None
            taken, events = (
                blind_records.release(ledger, body, is_known=is_known)
                if is_of_hand
                else (deals.release(ledger, body), ())
            )
        case Mask() | Lock() | Keys() | Lend():
            taken, events = blind_records.take_seat_step(ledger, body, is_known=is_known)
        case _:
            taken, events = _take_silently(ledger, body), ()
    return FoldedRecord(_advance(taken, placed), events)


def check_place(ledger: Ledger, record: Record, body: AnyBody) -> PlacedRecord:
    """Return a record in its place: its position, head, phase and seats are right, and no other record is due.

    Raises:
        CheckError: C10, C11, C12, C23, C24, C26, C29.
    """
    match body:  # a pattern, as `isinstance` is a call
        case Placed():
            kind = KIND_OF[type(body)]
        case _:
            raise CheckError("C11", f"{tag_of(body)}: the setup is closed")
    is_parallel = kind.binding is _PARALLEL
    k, head = ledger.parallel if is_parallel else (ledger.k, ledger.head)
    # a record at another place blames nobody: whoever wrote the list may have moved it (decision 5)
    if body.k != k or body.head != head or body.mid != ledger.setup.mid:
        raise _misplaced(ledger, body, k, head)
    if ledger.phase not in PHASES[ledger.setup.terms.table.mode][type(body)]:
        message = f"{tag_of(body)}: does not stand in the phase {ledger.phase}"
        raise CheckError("C11", message, _author(record, body))
    match body:
        case Act() | Proxy() | Release() if body.seat < ledger.setup.terms.table.seats:
            pass  # nearly all
        case _:
            _check_seats(ledger, record, body)
    # mode blind has demands of its own, where seats and not the server owe what comes next
    if ledger.blind_hand is not None:
        blind_records.check_due(ledger, body, _untimely_author(record, body))
    elif ledger.phase is _HAND:
        _check_due_in_hand(ledger, record, body)
    elif ledger.phase is _BETWEEN and must_end(ledger) and not _ends_match(body):
        message = "expected a forfeit or an abandoned match after the void"
        raise CheckError("C26", message, _untimely_author(record, body))
    if ledger.pause.active and not isinstance(body, _IN_A_PAUSE):
        raise CheckError("C29", f"{tag_of(body)}: the match is paused", _author(record, body))
    return PlacedRecord(ledger, record, body, is_parallel)


def _author(record: Record, body: AnyBody) -> str | None:
    """Return who has certainly signed: nobody a proxy, nor a newcomer's record, for which anybody can make a key."""
    return None if isinstance(body, Proxy | Sub) else role_name(record.signer)


def _misplaced(ledger: Ledger, body: Placed, k: int, head: bytes) -> CheckError:
    if body.mid != ledger.setup.mid:
        return CheckError("C10", f"{tag_of(body)}: the record is of another match")
    under = "the same" if body.head == head else "another"
    return CheckError("C10", f"{tag_of(body)}: expected position {k}, got {body.k} under {under} head")


def _check_seats(ledger: Ledger, record: Record, body: AnyBody) -> None:
    seats = ledger.setup.terms.table.seats
    for field in _SEATS_NAMED[type(body)]:
        seat = getattr(body, field)
        if seat is not None and seat >= seats:
            message = f"{tag_of(body)}: expected a seat below {seats}, got {seat}"
            raise CheckError("C12", message, _author(record, body))


def _untimely_author(record: Record, body: AnyBody) -> str | None:
    """Return who is to blame for a record that came too early: a seat that signed it is not."""
    # a seat may not have known that a record of the server was due (specification.md 11); the server knows
    return None if record.signer else _author(record, body)


def _ends_match(body: AnyBody) -> bool:
    return isinstance(body, Rule) and body.ruling in ("forfeit", "abandon")


def _check_due_in_hand(ledger: Ledger, record: Record, body: AnyBody) -> None:
    """Check that the server owes no other record of the hand before this one."""
    hand, match = ledger.hand, ledger.match
    if hand is None or match is None:
        return
    expected: tuple[str, str] | None = None
    # first of all the card that is being played: until it is open nobody knows whether the hand goes on
    if hand.unseen is not None and not isinstance(body, Open):
        expected = "C23", "expected the card to be opened that was played unseen"
    elif hand.opens and not isinstance(body, _AFTER_OPENS):
        expected = "C23", "expected further cards to be opened, or the close"
    # partners see each other's cards before they answer the question to a side at its last point
    # (specification.md 8); whether a question is open at all is asked first, as it is cheap
    elif match.hand.offers and next_share(ledger) is not None and not isinstance(body, Share):
        expected = "C23", "expected a share right after the deal"
    # no ruling or resignation takes away a match that is won; seats may still show what they held
    elif match.winner is not None and not (isinstance(body, _AFTER_OPENS) or _is_show(body)):
        expected = "C24", "the match is won, expected the close of its last hand"
    if expected is not None:
        check, wanted = expected
        message = f"{tag_of(body)}: {wanted}"
        raise CheckError(check, message, _untimely_author(record, body), refusal="not_now")


def _is_show(body: AnyBody) -> bool:
    return isinstance(body, Act | Proxy) and body.kind == Kind.SHOW


def _take_silently(ledger: Ledger, body: SilentBody) -> Ledger:
    match body:
        case Call():
            return deals.call(ledger, body)
        case Garbled():
            return blind_records.claim_garbled(ledger, body)
        case Draw():
            return deals.draw(ledger, body)
        case Void():
            return deals.void(ledger, body)
        case Rekey():
            return deals.rekey(ledger, body)
        case Sub():
            return deals.substitute(ledger, body)
        case Share():
            return opens.share(ledger, body)
        case Resign():
            return play.resign(ledger, body.seat)
        case End():
            return _end(ledger, body)
        case Ack():
            return _ack(ledger, body)
        case _:
            assert_never(body)


def _advance(taken: Ledger, placed: PlacedRecord) -> Ledger:
    before, record = placed.ledger, placed.record
    k, head = before.k + 1, next_head(before.head, record)
    # releases, keys and acks of one round all carry the head before the first of them, so that seats can sign
    # them without having seen each other's (specification.md 5, Q)
    parallel = before.parallel if placed.is_parallel else (k, head)
    covered = before.covered
    if record.signer > 0:
        seat = record.signer - 1
        # the position whose head it signed, of a release or an ack the one before the whole round
        covered = (*covered[:seat], placed.body.k, *covered[seat + 1 :])
    return replace(taken, k=k, head=head, parallel=parallel, covered=covered)


def _close(ledger: Ledger, body: Close) -> Taken:
    """Take the end of a hand; the next one begins with the score that its known cards prove.

    The events are all those of the hand, as these cards tell it; none if every card was known from the first.

    Raises:
        CheckError: C12, C14, C23, C24, C25.
    """
    check_index(ledger, body.j, _SERVER)
    if ledger.hand is None or ledger.match is None:
        raise CheckError("C24", "no hand is open to be closed", _SERVER)
    is_exposed = ledger.blind_hand is not None and ledger.blind_hand.exposed is not None
    # where a seat has been exposed, by its moves too, they prove nothing
    match, happened = (ledger.match, ()) if is_exposed else _replay_known(ledger.hand, ledger.match)
    reason = "ended" if ledger.phase is Phase.OVER else "hand"
    if reason == "hand" and not is_hand_over(match):
        raise CheckError("C24", "the hand is not over", _SERVER)
    if reason == "hand" and ledger.blind_hand is not None and not is_opened(ledger):
        raise CheckError("C24", f"the hand is not opened by seats {list(seats_unopened(ledger))}", _SERVER)
    if body.reason != reason:
        raise CheckError("C24", f"expected the reason {reason}, got {body.reason!r}", _SERVER)
    # in mode blind a hand that has won the match is ended too, by who does not open it, and may be opened after that
    is_won = reason == "ended" and match.winner is not None and ledger.blind_hand is None
    # with a card unknown the score is a reading only: the end, which comes next, judges it by all cards
    if is_won and ledger.hand.is_known:
        raise CheckError("C24", "the match was won before it was ended otherwise", _SERVER)
    if reason == "hand":
        check_shown(ledger, ledger.hand, match)
    elif is_unsure(match):
        match = _believe_score(match, body.score)
    _check_score(side_scores(match), body.score)
    # C14 stands before C25 (specification.md 11): an auditor has checked the link before it recomputed the cards
    return _after_close(server_link(ledger, body.link), match), happened


def _replay_known(hand: HandLog, match: Match) -> tuple[Match, Events]:
    """Return the state that the known cards prove, and all that happened, if it took some cards to prove it."""
    if hand.is_known:
        return match, ()
    try:
        return replayed(hand, known_hands(hand, match))
    except RulesError as error:
        message = f"deal {hand.call.j}: with the cards opened the rules refuse a move: {error}"
        raise CheckError("C25", message, _SERVER) from error


def _believe_score(match: Match, claimed: tuple[SideScore, SideScore]) -> Match:
    """Accept the claimed score of a hand that was cut short."""
    # only cards that stay closed to the end could prove it, and there it is recomputed (specification.md 8)
    first, second = claimed
    return match._replace(score=(Score(*first[1:]), Score(*second[1:])), games=(first[0], second[0]))


def _after_close(ledger: Ledger, match: Match) -> Ledger:
    phase, outcome = ledger.phase, ledger.outcome
    if outcome is None and match.winner is not None:
        phase, outcome = Phase.OVER, Outcome(match.winner, "won")
    elif outcome is None:
        phase, match = Phase.BETWEEN, next_hand(match)
    # each seat may ask for one pause from a close to the next; a pause that lasts goes on, and in it each may
    # ask once more for its end (specification.md 9)
    return replace(
        ledger,
        phase=phase,
        deal_index=ledger.deal_index + 1,
        match=match,
        hand=None,
        call=None,
        released=(),
        blind_hand=None,
        cut=0,
        pause=Pause(ledger.pause.active),
        outcome=outcome,
    )


def _check_score(expected: tuple[SideScore, SideScore], claimed: tuple[SideScore, SideScore]) -> None:
    if claimed != expected:
        raise CheckError("C24", f"expected the score {expected}, got {claimed}", _SERVER)


def _end(ledger: Ledger, body: End) -> Ledger:
    """Take the end of the match.

    Raises:
        CheckError: C24, C30, C31 the box key.
    """
    # an open hand would be left out of what the end lets everybody recompute
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
    # a chain that has served no deal stays shut: nothing in the match was made from it
    due = tuple((first, anchor) for first, anchor in ledger.chain.all() if first < ledger.deal_index)
    if body.next_index != ledger.deal_index or tuple(first for first, _ in body.links) != tuple(
        first for first, _ in due
    ):
        message = f"expected index {ledger.deal_index} and chains {[first for first, _ in due]}"
        raise CheckError("C30", message, "server")
    for (first, anchor), (_, opened) in zip(due, body.links, strict=True):
        newest = min(ledger.deal_index, first + table.links)
        if not chains.descends(table.spk, table.tn, known=(first, anchor), index=newest, link=opened):
            raise CheckError("C30", f"link {newest} does not hash down to the chain from {first}", "server")


def _ack(ledger: Ledger, body: Ack) -> Ledger:
    """Take a seat's signature under the final head.

    Raises:
        CheckError: C32.
    """
    # nobody is blamed: whoever wrote the list can put an ack there twice (specification.md 11)
    if body.seat in ledger.acks:
        raise CheckError("C32", f"seat {body.seat} has signed its ack already")
    return replace(ledger, acks=ledger.acks | {body.seat})
