"""Rulings: the server's claims that time ran out. What each does, and what the records must show for it, is fixed."""

from msgspec.structs import replace

from truc_protocol.acts import Move, read_act
from truc_protocol.bodies import Rule
from truc_protocol.checks import CheckError
from truc_protocol.ledger.blind_records import seats_owing
from truc_protocol.ledger.play import moved, open_slots, played_unseen, streaks_with
from truc_protocol.ledger.replay import apply_logged, may_rule, readings
from truc_protocol.ledger.state import (
    ExposedSeat,
    HandLog,
    Ledger,
    LoggedMove,
    Outcome,
    Pause,
    Taken,
    check_index,
    is_exhausted,
    is_gone,
    owes_forfeit,
)
from truc_protocol.records import Phase
from truc_protocol.setup import GONE_WAIT
from truc_rules import Kind, Match, RulesError, deciders, is_hand_over

_SERVER = "server"
_BLIND_MODE_PHASES = (Phase.CALLED, Phase.OVER)
"""Where mode blind alone knows rulings, about keys, links and cheats."""
_BLIND_MODE_FORFEITS = ("opening", "cheat", "false")


def rule(ledger: Ledger, body: Rule) -> Taken:
    """Take a ruling.

    Raises:
        CheckError: C2 the shape of a ruled move, C12, C19 its opening, C22, C25 a card that lies elsewhere too, C29.
    """
    check_index(ledger, body.j, _SERVER)
    if ledger.blind_hand is not None or ledger.phase in _BLIND_MODE_PHASES:
        _check_blind_mode(ledger, body)
    match body:
        case Rule(ruling="move", seat=int(seat), kind=str(kind)):
            return _move(ledger, seat, kind, body.args)
        case Rule(args=()):
            return _rule_without_a_move(ledger, body), ()
        case _:
            raise _not_listed(body)


def _check_blind_mode(ledger: Ledger, body: Rule) -> None:
    """Check what mode blind leaves room for: after an exposed seat its forfeit; no move while seats owe a step."""
    exposed = None if ledger.blind_hand is None else ledger.blind_hand.exposed
    ends = body.ruling in ("forfeit", "abandon")
    if exposed is not None and not (ends and body.seat in (None, exposed.seat)):
        raise CheckError("C52", f"expected the forfeit of seat {exposed.seat}, who is exposed", _SERVER)
    if ledger.phase in _BLIND_MODE_PHASES and not ends:
        raise _not_listed(body)
    # nothing is left to be decided, and in a pause seats could not send their keys. A lend that does not come
    # is no such thing: the question that waits for it is ruled without it
    if body.ruling in ("move", "pause") and _opens_next(ledger):
        raise CheckError("C22", f"expected no {body.ruling}: nothing but links or keys may follow", _SERVER)


def _opens_next(ledger: Ledger) -> bool:
    """Tell whether seats owe the links of a hand, or the keys of a card, before which nothing is ruled but an end."""
    blind, hand, match = ledger.blind_hand, ledger.hand, ledger.match
    if blind is None or hand is None or match is None:
        return False
    return blind.garbled or hand.unseen is not None or is_hand_over(match)


def _rule_without_a_move(ledger: Ledger, body: Rule) -> Ledger:
    """Take a ruling that moves nothing in the hand."""
    pause = ledger.pause
    match body:
        case Rule(ruling="forfeit", seat=int(seat), kind=str(kind)) if may_forfeit(ledger, seat, kind):
            return ended(ledger, Outcome(1 - seat % 2, "forfeit"))
        case Rule(ruling="abandon", seat=None, kind=str(kind)) if may_abandon(ledger, kind):
            return ended(ledger, Outcome(None, "abandoned"))
        case Rule(ruling="pause", seat=None, kind=None) if not pause.active and _all_asked(ledger):
            return replace(ledger, pause=Pause(active=True, spent=pause.spent))
        case Rule(ruling="resume", seat=None, kind=None) if pause.active:
            # whether the seats asked or opts[7] is over: no record shows time, so either is believed
            return replace(ledger, pause=Pause(spent=pause.spent))
        case _:
            raise _not_listed(body)


def ended(ledger: Ledger, outcome: Outcome) -> Ledger:
    """Return the ledger of a match that is decided; a call of which no hand has come is used up with it."""
    over = replace(ledger, phase=Phase.OVER, outcome=outcome)
    if ledger.phase is not Phase.CALLED:
        return over
    # in mode blind alone: no close follows, as there is no hand to open (blind.md, "Ended without a deal")
    return replace(over, deal_index=ledger.deal_index + 1, call=None, released=(), blind_hand=None)


def _not_listed(body: Rule) -> CheckError:
    kind = "" if body.kind is None else f" {body.kind!r}"
    seat = "" if body.seat is None else f" of seat {body.seat}"
    return CheckError("C22", f"ruling {body.ruling!r}{kind}{seat}: not on the list, or not its time", _SERVER)


def _all_asked(ledger: Ledger) -> bool:
    return len(ledger.pause.asked) == ledger.seats


def may_forfeit(ledger: Ledger, seat: int, kind: str) -> bool:
    """Tell whether the records show what a forfeit of this seat needs."""
    if ledger.is_dealerless and (ledger.phase in _BLIND_MODE_PHASES or kind in _BLIND_MODE_FORFEITS):
        return _may_forfeit_blind(ledger, seat, kind)
    opts = ledger.setup.terms.opts
    # where seats are waited for, neither silence nor absence loses before the voids are used up
    # (specification.md 9)
    waits = opts.gone == GONE_WAIT and ledger.voids <= opts.voids
    match kind:
        case "silent":
            # where both sides were silent nobody wins (`empty`); a void at the draw costs nobody the match
            one_side = len({silent % 2 for silent in ledger.silent}) == 1
            return seat in ledger.silent and one_side and ledger.match is not None and not waits
        case "absent":
            # a chain never runs out within a hand: no call is made on one without a link left
            exhausted = is_exhausted(ledger, seat + 1)
            return (0 < opts.gone_after <= ledger.streaks[seat] or exhausted) and not waits
        case _:
            return False


def _may_forfeit_blind(ledger: Ledger, seat: int, kind: str) -> bool:
    """Tell whether a seat has shown itself a cheat, or owes what nothing can void while the other side owes nothing."""
    exposed = None if ledger.blind_hand is None else ledger.blind_hand.exposed
    if kind == "opening":
        # once the match is over links may come, but none is due
        owing = seats_owing(ledger) if ledger.phase is not Phase.OVER else ()
        return exposed is None and seat in owing and {each % 2 for each in owing} == {seat % 2}
    return owes_forfeit(ledger) and exposed == ExposedSeat(seat, kind)


def may_abandon(ledger: Ledger, kind: str) -> bool:
    """Tell whether the records show what abandoning the match for this reason needs."""
    if ledger.phase is Phase.OVER:
        return False
    is_won = ledger.blind_hand is not None and ledger.match is not None and ledger.match.winner is not None
    # it is won by a hand that is over and not open yet. The server must not take that away, except after a seat
    # was exposed, or where both sides keep their links back (blind.md, "Rulings")
    if is_won:
        return kind == "server" if owes_forfeit(ledger) else kind == "empty" and _both_owe(ledger)
    match kind:
        case "server":
            return True
        case "voids":
            return ledger.voids > ledger.setup.terms.opts.voids
        case "empty":
            gone = {seat % 2 for seat in range(ledger.seats) if is_gone(ledger, seat)}
            return gone == {0, 1} or _both_owe(ledger)
        case _:
            return False


def _both_owe(ledger: Ledger) -> bool:
    return {seat % 2 for seat in seats_owing(ledger)} == {0, 1}


def _move(ledger: Ledger, seat: int, kind: str, args: tuple[object, ...]) -> Taken:
    if ledger.pause.active:
        raise CheckError("C29", "a ruled move: the match is paused", _SERVER)
    if not ledger.setup.terms.opts.decision_ms:
        raise CheckError("C22", "a ruled move: the terms give decisions no end of their time", _SERVER)
    match = ledger.match
    if match is None or not deciders(match):
        raise CheckError(
            "C22", f"expected no move: nothing is to be decided, got one of seat {seat}", _SERVER
        )
    table = ledger.setup.terms.table
    move = read_act(seat, kind, args, deck=table.deck, culprit=_SERVER, mode=table.mode)
    _check_fixed(match, move)
    # opened by a salt: in mode blind the server has no card to rule, and a ruled turn concedes
    hand, match = open_slots(ledger.hand, match, seat, move.openings, _SERVER)
    step = LoggedMove(move.action, ruled=True)
    is_unseen = move.action.kind is Kind.BLIND
    after, events = (
        (played_unseen(ledger, step), ()) if is_unseen else _tell_ruling(ledger, hand, match, step)
    )
    # enough of these in a row, and the seat counts as gone (opts[9])
    return replace(after, streaks=streaks_with(ledger, seat, ledger.streaks[seat] + 1)), events


def _check_fixed(match: Match, move: Move) -> None:
    """Check, before a card is opened, that the ruling can be the one the rules fix: it plays the lowest slot and cuts nothing."""
    # the server's word decides whether time ran out, so it must not decide what follows (specification.md 9)
    slot = move.openings[0].slot if move.openings else None
    if move.cut or not any(may_rule(reading, move.action, slot) for reading, _ in readings(match)):
        action = move.action
        raise CheckError(
            "C22", f"ruled {action.kind} is not what the rules fix for seat {action.seat}", _SERVER
        )


def _tell_ruling(ledger: Ledger, hand: HandLog | None, match: Match, step: LoggedMove) -> Taken:
    try:
        decided, events = apply_logged(match, step)
    except RulesError as error:
        action = step.action
        message = f"ruled {action.kind} is not what the rules fix for seat {action.seat}"
        raise CheckError("C22", message, _SERVER) from error
    return moved(ledger, hand, decided, step, 0), events
