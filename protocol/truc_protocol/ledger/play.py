"""The records of play: acts, proxies and rulings, and the cards the server opens or shares because the rules say so."""

from truc_protocol import dealing
from truc_protocol.acts import Move, SlotOpening, read_act
from truc_protocol.bodies import Act, Deal, Open, Proxy, Rule, Share
from truc_protocol.checks import CheckError, role_name
from truc_protocol.dealing import Opening
from truc_protocol.ledger.deals import check_index
from truc_protocol.ledger.state import (
    Ledger,
    Outcome,
    Pause,
    Step,
    is_exhausted,
    is_gone,
    must_end,
    next_share,
)
from truc_protocol.records import SERVER, Phase
from truc_protocol.setup import GONE_WAIT
from truc_rules import (
    Action,
    Card,
    CardError,
    Event,
    IllegalActionError,
    Kind,
    Match,
    Seat,
    apply,
    apply_ruled,
    deciders,
    know,
    lowest_slot,
    ruled,
)

Events = tuple[Event, ...]


def act(ledger: Ledger, body: Act | Proxy) -> tuple[Ledger, Events]:
    """Take a seat's decision.

    Raises:
        CheckError: C2 its shape, C12, C19 an opening, C20 the rules refuse it, C21 who may write it, C29 paused.
    """
    keyed = ledger.contributors[body.seat + 1] is not None
    if keyed != isinstance(body, Act):
        expected = "an act, signed by its key" if keyed else "a proxy record of the server"
        raise CheckError(
            "C21", f"seat {body.seat}: expected {expected}", role_name(SERVER if keyed else body.seat + 1)
        )
    check_index(ledger, body.j, body.seat + 1)
    move = read_act(body.seat, body.kind, body.args, deck=ledger.setup.terms.table.deck)
    match move.action.kind:
        case Kind.PAUSE | Kind.RESUME:
            return _ask_pause(ledger, move.action), ()
        case Kind.RESIGN:
            return _resign_by_act(ledger, body), ()
        case _:
            return _decide(ledger, move)


def _resign_by_act(ledger: Ledger, body: Act | Proxy) -> Ledger:
    if isinstance(body, Act):
        raise CheckError(
            "C20", "expected a resign record: a keyed seat resigns by its own kind", role_name(body.seat + 1)
        )
    return resign(ledger, body.seat)


def resign(ledger: Ledger, seat: int) -> Ledger:
    """Give the match to the other side."""
    return ledger._replace(phase=Phase.OVER, outcome=Outcome(1 - seat % 2, "resigned"))


def _ask_pause(ledger: Ledger, action: Action) -> Ledger:
    pause = ledger.pause
    starts = action.kind is Kind.PAUSE
    if starts == pause.active or action.seat in pause.asked or (starts and action.seat in pause.spent):
        message = f"seat {action.seat} cannot {action.kind}: it has had its turn to, or the match is not so"
        raise CheckError("C29", message, role_name(action.seat + 1))
    spent = pause.spent | {action.seat} if starts else pause.spent
    return ledger._replace(pause=pause._replace(asked=pause.asked | {action.seat}, spent=spent))


def _decide(ledger: Ledger, move: Move) -> tuple[Ledger, Events]:
    seat = move.action.seat
    if ledger.pause.active:
        raise CheckError("C29", "the match is paused", role_name(seat + 1))
    opened = _open_cards(ledger, seat, move.openings)
    if opened.match is None:
        raise CheckError("C20", "nothing is to be decided before the draw", role_name(seat + 1))
    try:
        match, events = apply(opened.match, move.action)
    except IllegalActionError as error:
        raise CheckError("C20", error.message, role_name(seat + 1), refusal=error.code) from error
    decided = _moved(opened, match, Step(move.action, ruled=False), move.cut)
    return decided._replace(streaks=_counted(ledger, seat, 0)), events


def _moved(ledger: Ledger, match: Match, step: Step, cut: int) -> Ledger:
    if ledger.hand is None:
        return ledger._replace(match=match, cut=cut or ledger.cut)
    return ledger._replace(match=match, hand=ledger.hand._replace(steps=(*ledger.hand.steps, step)))


def _counted(ledger: Ledger, seat: int, count: int) -> tuple[int, ...]:
    return (*ledger.streaks[:seat], count, *ledger.streaks[seat + 1 :])


def _open_cards(ledger: Ledger, seat: int, openings: tuple[SlotOpening, ...]) -> Ledger:
    """Check openings of a seat's newest deal and tell the rules the cards."""
    if not openings:
        return ledger
    if ledger.hand is None or not ledger.hand.deals or ledger.match is None:
        raise CheckError("C19", "no cards are dealt", role_name(seat + 1))
    match, used, deal = ledger.match, set(ledger.hand.used), ledger.hand.deals[-1]
    for opening in openings:
        _check_opening(deal, used, seat, opening)
        used.add((deal.d, seat, opening.slot))
        try:
            match = know(match, Seat(seat), opening.slot, Card(opening.card))
        except CardError as error:
            raise CheckError("C25", str(error), "server") from error
    return ledger._replace(match=match, hand=ledger.hand._replace(used=frozenset(used)))


def _check_opening(deal: Deal, used: set[tuple[int, int, int]], seat: int, opening: SlotOpening) -> None:
    culprit = role_name(seat + 1)
    if opening.slot >= deal.ncards or (deal.d, seat, opening.slot) in used:
        raise CheckError("C19", f"slot {opening.slot}: expected one dealt and not opened before", culprit)
    shown = dealing.leaf(
        deal.mid,
        j=deal.j,
        d=deal.d,
        seat=seat,
        slot=opening.slot,
        opening=Opening(opening.card, opening.salt),
    )
    if shown != deal.leaves[seat][opening.slot]:
        raise CheckError(
            "C19", f"slot {opening.slot}: the card and salt do not hash to the leaf dealt", culprit
        )


def rule(ledger: Ledger, body: Rule) -> tuple[Ledger, Events]:
    """Take a ruling.

    Raises:
        CheckError: C12, C22, C26.
    """
    check_index(ledger, body.j, SERVER)
    if body.seat is not None and body.seat >= ledger.seats:
        raise CheckError("C12", f"expected a seat below {ledger.seats}, got {body.seat}", "server")
    match body:
        case Rule(ruling="move", seat=int(seat), kind=str(kind)):
            return _ruled_move(ledger, seat, kind, body.args)
        case Rule(ruling="forfeit", seat=int(seat), kind=str(kind), args=()) if may_forfeit(
            ledger, seat, kind
        ):
            return ledger._replace(phase=Phase.OVER, outcome=Outcome(1 - seat % 2, "forfeit")), ()
        case Rule(ruling="abandon", seat=None, kind=str(kind), args=()) if may_abandon(ledger, kind):
            return ledger._replace(phase=Phase.OVER, outcome=Outcome(None, "abandoned")), ()
        case Rule(ruling="pause", seat=None, kind=None, args=()) if _all_asked(ledger, active=False):
            return ledger._replace(pause=Pause(active=True, spent=ledger.pause.spent)), ()
        case Rule(ruling="resume", seat=None, kind=None, args=()) if ledger.pause.active:
            return ledger._replace(
                pause=Pause(spent=ledger.pause.spent)
            ), ()  # opts[7] may be over: no record shows time
        case _:
            message = (
                f"ruling {body.ruling}, seat {body.seat}, kind {body.kind}: not on the list, or not its time"
            )
            raise CheckError("C22", message, "server")


def _all_asked(ledger: Ledger, *, active: bool) -> bool:
    return ledger.pause.active == active and len(ledger.pause.asked) == ledger.seats


def may_forfeit(ledger: Ledger, seat: int, kind: str) -> bool:
    """Tell whether the records show what a forfeit of this seat needs."""
    opts = ledger.setup.terms.opts
    waits = opts.gone == GONE_WAIT and ledger.voids <= opts.voids
    match kind:
        case "silent":
            return seat in ledger.silent and not waits
        case "absent":
            exhausted = ledger.phase is Phase.BETWEEN and is_exhausted(ledger, seat + 1)
            return (0 < opts.gone_after <= ledger.streaks[seat] or exhausted) and not waits
        case _:
            return False


def may_abandon(ledger: Ledger, kind: str) -> bool:
    """Tell whether the records show what abandoning the match for this reason needs."""
    match kind:
        case "server":
            return True
        case "voids":
            return ledger.voids > ledger.setup.terms.opts.voids
        case "empty":
            return {seat % 2 for seat in range(ledger.seats) if is_gone(ledger, seat)} == {0, 1}
        case _:
            return False


def _ruled_move(ledger: Ledger, seat: int, kind: str, args: tuple[object, ...]) -> tuple[Ledger, Events]:
    holders = deciders(ledger.match) if ledger.match is not None else ()
    if must_end(ledger) or not holders or seat != holders[0]:
        message = (
            f"expected a move of seat {holders[0]}"
            if holders
            else "expected no move: nothing is to be decided"
        )
        raise CheckError("C22", f"{message}, got one of seat {seat}", "server")
    move = read_act(seat, kind, args, deck=ledger.setup.terms.table.deck)
    if move.cut or (move.openings and move.openings[0].slot != lowest_slot(_rules(ledger), Seat(seat))):
        raise CheckError("C22", f"ruled {kind}: expected cut 0, or the lowest slot", "server")
    opened = _open_cards(ledger, seat, move.openings)
    match = _rules(opened)
    if move.action != ruled(match):
        raise CheckError("C22", f"ruled {kind} is not what the rules fix for seat {seat}", "server")
    moved, events = apply_ruled(match, move.action)
    after = _moved(opened, moved, Step(move.action, ruled=True), 0)
    return after._replace(streaks=_counted(ledger, seat, ledger.streaks[seat] + 1)), events


def _rules(ledger: Ledger) -> Match:
    if ledger.match is None:
        raise ValueError("the rules have no state before the draw")
    return ledger.match


def open_cards(ledger: Ledger, body: Open) -> Ledger:
    """Take cards that the rules force a seat to show: no machine of this rules engine does.

    Raises:
        CheckError: C12, C23.
    """
    check_index(ledger, body.j, SERVER)
    raise CheckError("C23", f"seat {body.seat}: the rules force no card to be shown", "server")


def share(ledger: Ledger, body: Share) -> Ledger:
    """Take a partner's hand, right after the deal, in ascending order.

    Raises:
        CheckError: C12, C23.
    """
    check_index(ledger, body.j, SERVER)
    owed = next_share(ledger)
    hand = ledger.hand
    if hand is None or owed != (body.giver, body.receiver) or body.d != len(hand.deals) - 1:
        raise CheckError("C23", f"expected {owed or 'no share'}, got {(body.giver, body.receiver)}", "server")
    return ledger._replace(hand=hand._replace(shares=(*hand.shares, body)))
