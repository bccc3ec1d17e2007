"""How a scripted server plays: the options of the seat under test, and the records of the others.

Functions of a ledger, its dealer and the puppets; nothing here sends anything.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from truc_conform.puppets import Player, secret
from truc_protocol.acts import write_args
from truc_protocol.bodies import Ack, Act, Close, Deal, Proxy, Rekey, Release, Resign, Sub
from truc_protocol.boxes import Option
from truc_protocol.checks import CheckError
from truc_protocol.dealer import Dealer, proxy
from truc_protocol.dealing import DealtCards
from truc_protocol.facts import Fact, means
from truc_protocol.ledger import Due, Ledger, due, fold, missing
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.messages import SignedAct
from truc_protocol.records import Record, parse, unsigned
from truc_rules import Action, Match, Seat, deciders, legal, move_line, parse_move

CUT: Final = 7
QUIET: Final = ("play", "cut", "stand", "accept", "deal")
"""The kinds that keep a match going, the preferred ones first."""

Pick = Callable[[list[Action]], Action]


def open_actions(ledger: Ledger) -> tuple[Action, ...]:
    """Return what the seat under test may do."""
    return legal(ledger.match, Seat(0)) if ledger.match is not None and due(ledger) is Due.PLAYERS else ()


def _rules(ledger: Ledger) -> Match:
    if ledger.match is None:
        raise ValueError("nothing is decided before the draw")
    return ledger.match


def option_of(ledger: Ledger, dealer: Dealer, action: Action) -> Option:
    """Return an action as an option."""
    match = _rules(ledger)
    return Option(str(action.kind), _args(ledger, dealer, action), move_line(match.variant, action))


def written_choice(ledger: Ledger, dealer: Dealer, line: str) -> Record:
    """Write down what a guest at seat 0 has chosen."""
    action = parse_move(_rules(ledger).variant, Seat(0), line)
    return unsigned(proxy(ledger, 0, line.split(maxsplit=1)[0], _args(ledger, dealer, action)))


def _args(ledger: Ledger, dealer: Dealer, action: Action) -> tuple[Any, ...]:
    openings = dealer.openings(ledger, action.seat) if ledger.hand else ()
    return tuple(write_args(_rules(ledger), action, openings, cut=CUT))


def decided(ledger: Ledger, dealer: Dealer, players: Mapping[int, Player], pick: Pick) -> Record:
    """Let a puppet that holds the decision pick an action."""
    action = pick([action for seat in players for action in legal(_rules(ledger), Seat(seat))])
    option = option_of(ledger, dealer, action)
    return players[action.seat].act(ledger, option.kind, option.args)


def drawn(actions: list[Action], dice: random.Random) -> Action:
    """Pick an action at random; concede only if nothing else is left."""
    return dice.choice([action for action in actions if action.kind != "concede"] or actions)


def quiet(actions: list[Action]) -> Action:
    """Pick the action that keeps the match going."""
    return min(actions, key=lambda each: QUIET.index(each.kind) if each.kind in QUIET else len(QUIET))


def conceding(actions: list[Action]) -> Action:
    """Give the hand up, as soon as that is possible."""
    return next((action for action in actions if action.kind == "concede"), actions[0])


def may_decide(ledger: Ledger, players: Iterable[int]) -> bool:
    """Tell whether the match waits for a decision of one of these seats."""
    if ledger.match is None or due(ledger) is not Due.PLAYERS:
        return False
    return bool(set(deciders(ledger.match)) & set(players))


def next_release(ledger: Ledger, players: Mapping[int, Player]) -> Record | None:
    """Return the release of a puppet that owes one."""
    return next((players[seat].release(ledger) for seat in missing(ledger) if seat in players), None)


def next_ack(ledger: Ledger, players: Mapping[int, Player]) -> Record | None:
    """Return the ack of a puppet that owes one."""
    return next((player.ack(ledger) for seat, player in players.items() if seat not in ledger.acks), None)


def fresh_chain(ledger: Ledger, dealer: Dealer, players: Mapping[int, Player], seed: int) -> Record | None:
    """Return the rekey of the server or of a puppet whose chain is used up."""
    if is_exhausted(ledger, 0):
        return dealer.rekey(ledger, secret(f"root {ledger.deal_index}", seed))
    exhausted = (player for seat, player in players.items() if is_exhausted(ledger, seat + 1))
    return next((player.rekey(ledger) for player in exhausted), None)


def facts_of(ledger: Ledger, dealer: Dealer, record: Record) -> tuple[Fact, ...]:
    """Return what the next record of a ledger means."""
    body = parse(record)
    opened = None
    if isinstance(body, Close) and body.link is not None:
        opened = DealtCards(tuple(dealer.openings(ledger, seat) for seat in range(ledger.seats)), (), 0)
    folded = fold(ledger, record, body)
    after = dealer.know_deal(folded.ledger) if isinstance(body, Deal) else folded.ledger
    return tuple(means(body, after, folded.events, opened))


def signed_position(message: SignedAct) -> int:
    """Return the position that a signed act is for; -1 if it cannot be read."""
    try:
        return position(Record(1, message.body, message.sig))
    except (CheckError, ValueError):
        return -1


def position(record: Record) -> int:
    """Return the position that a seat has signed; -1 if the body that it signed has none."""
    body = parse(record)
    return body.k if isinstance(body, Ack | Act | Proxy | Rekey | Release | Resign | Sub) else -1
