"""How a scripted server plays: the options of the seat under test, and the records of the others.

Functions of a ledger, its dealer and the puppets; nothing here sends anything.
"""

import random
from collections.abc import Iterable, Mapping
from typing import Final

from truc_conform.puppets import Player, secret
from truc_protocol.acts import write_args
from truc_protocol.bodies import Ack, Act, Close, Deal, Proxy, Rekey, Release, Resign, Sub
from truc_protocol.boxes import Option
from truc_protocol.checks import CheckError
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Due, Ledger, due, fold, missing
from truc_protocol.ledger.state import is_exhausted
from truc_protocol.meaning import Fact, means
from truc_protocol.messages import Choice, SignedAct
from truc_protocol.records import Record, parse, unsigned
from truc_rules import Action, Match, Seat, deciders, legal, move_line, parse_move
from truc_server.matches.dealer import Dealer, proxy

CUT: Final = 7
QUIET: Final = ("play", "cut", "stand", "accept", "deal")
"""The kinds that keep a match going, the preferred ones first."""


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
    openings = dealer.openings(ledger, action.seat) if ledger.hand else ()
    args = tuple(write_args(match, action, openings, cut=CUT))
    return Option(str(action.kind), args, move_line(match.variant, action))


def choice_of(option: Option) -> Choice:
    """Return an option as a guest sees it."""
    return Choice(key=option.line, kind=option.kind, hints={})


def written_choice(ledger: Ledger, dealer: Dealer, line: str) -> Record:
    """Write down what a guest at seat 0 has chosen."""
    match = _rules(ledger)
    action = parse_move(match.variant, Seat(0), line)
    openings = dealer.openings(ledger, 0) if ledger.hand else ()
    args = tuple(write_args(match, action, openings, cut=CUT))
    return unsigned(proxy(ledger, 0, line.split(maxsplit=1)[0], args))


def acted(ledger: Ledger, dealer: Dealer, players: Mapping[int, Player], action: Action) -> Record:
    """Let a puppet sign an action."""
    option = option_of(ledger, dealer, action)
    return players[action.seat].act(ledger, option.kind, option.args)


def drawn_act(ledger: Ledger, dealer: Dealer, players: Mapping[int, Player], dice: random.Random) -> Record:
    """Let a puppet decide at random; it concedes only if nothing else is left."""
    actions = _actions(ledger, players)
    action = dice.choice([action for action in actions if action.kind != "concede"] or actions)
    return acted(ledger, dealer, players, action)


def quiet_act(ledger: Ledger, dealer: Dealer, players: Mapping[int, Player]) -> Record:
    """Let a puppet that holds the decision keep the match going."""
    actions = _actions(ledger, players)
    action = min(actions, key=lambda each: QUIET.index(each.kind) if each.kind in QUIET else len(QUIET))
    return acted(ledger, dealer, players, action)


def conceding_act(ledger: Ledger, dealer: Dealer, players: Mapping[int, Player]) -> Record:
    """Let a puppet that holds the decision give the hand up, as soon as it can."""
    actions = _actions(ledger, players)
    action = next((action for action in actions if action.kind == "concede"), actions[0])
    return acted(ledger, dealer, players, action)


def may_decide(ledger: Ledger, players: Iterable[int]) -> bool:
    """Tell whether the match waits for a decision of one of these seats."""
    if ledger.match is None or due(ledger) is not Due.PLAYERS:
        return False
    return bool(set(deciders(ledger.match)) & set(players))


def _actions(ledger: Ledger, seats: Iterable[int]) -> list[Action]:
    return [action for seat in seats for action in legal(_rules(ledger), Seat(seat))]


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
