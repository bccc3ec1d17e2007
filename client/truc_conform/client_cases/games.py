"""The cases of level C4 at honest tables, for what only some games and longer matches have.

That is four seats, cards that are turned up, shared, unseen or closed to the end, new chains, substitutes. The puppets see to it that a match comes to what its case is about, whatever the client plays.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Final

from truc_conform.client_cases.stopping import DUTIES, signed_after
from truc_conform.client_harness import ClientHarness, Game
from truc_conform.forging import note_cheat
from truc_conform.playing import Puppet, quiet
from truc_conform.result import CaseOutcome, CaseVerdict, failed, tag_of_body
from truc_conform.scenes import (
    CLOSING_S,
    Arrange,
    Exit,
    Judge,
    at_first,
    end_after,
    faulty,
    judged,
    plain,
    scene,
    unended,
)
from truc_protocol import messages
from truc_protocol.bodies import Close
from truc_protocol.ledger import Due, due, missing
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import GONE_SUBSTITUTE, GONE_WAIT, Opts
from truc_rules import Action

SCORE: Final = "../fairness/specification.md#5-records"
_DEALS: Final = "../fairness/specification.md#6-deals"
_ACTS: Final = "../fairness/specification.md#8-acts"
_CHAINS: Final = "play.md#new-chains"
_GONE: Final = "play.md#a-seat-whose-player-is-gone"

_FOUR: Final = Game("truc-catalan", 4)
TURNED: Final = Game("truco-paulista")
PARTNERS: Final = Game("truco-mineiro", 4, {"target": 3, "blind": "on"})
GAMES: Final = PARTNERS._replace(options={**PARTNERS.options, "match": 3})
CLOSED: Final = Game(options={"target": 2, "reveal": "match"})
SHORT_CHAINS: Final = Game(options={"target": 6}, links=2)
CALLING_AGAIN: Final = Game(opts=Opts(guests=1, gone=GONE_WAIT))
STEPPING_IN: Final = Game(opts=Opts(guests=1, gone=GONE_SUBSTITUTE))
LAST_POINT: Final = 3
"""The deal index of the hand before which the client's side at PARTNERS has come to its last point."""
BLIND: Final = 5
"""That of the hand before which the other side, after two hands declined, has come to its own."""
_LAST_POINT_AT: Final = 2
"""How many points a side has there at its last one."""
_FIRST_HAND: Final = 1
_OTHER: Final = 1  # the seat across the table


def _preferring(wanted: Callable[[Action], bool]) -> Arrange:
    """Let the puppets do what is wanted, if they can, and else what keeps the match going."""

    def pick(actions: list[Action]) -> Action:
        return next(filter(wanted, actions), None) or quiet(actions)

    def arrange(server: ClientHarness) -> None:
        server.pick = lambda _ledger: pick

    return arrange


def _asks_in_vain(action: Action) -> bool:
    """Tell whether an action is how the client's partner asks for more, so that the others give the hand up."""
    return action.kind == ("decline" if action.seat % 2 else "raise")


share: Final = _preferring(_asks_in_vain)
"""The client's side wins a point in each hand, up to its last one, and plays that."""
go_blind: Final = _preferring(lambda action: action.kind == "decline" or _asks_in_vain(action))
"""The client's side comes to its last point, and plays only when the other side is at its own too."""
decline_all: Final = _preferring(lambda action: action.kind == "decline")
"""No hand is worth more than a point, so that the match outlasts the chains."""


def _comes_to(kind: str, signer: int | None = None) -> Judge:
    """Return a judge of a whole match that has brought a kind of record."""

    def judge(server: ClientHarness, end: Exit) -> CaseOutcome | None:
        if (early := faulty(server, kind) or unended(server, end)) is not None:
            return early
        found = [record for record in server.records if tag_of_body(record.body) == kind]
        is_there = any(signer in (None, record.signer) for record in found)
        return None if is_there else failed(f"the match was over before a {kind} record")

    return judge


def begins_anew(server: ClientHarness, end: Exit) -> CaseOutcome | None:
    """Judge a match that has gone on behind a game which left both sides with their last points."""
    if (early := unended(server, end)) is not None:
        return early
    closes = [body for body in map(parse, server.records) if isinstance(body, Close)]
    won = (after.score for before, after in pairwise(closes) if _games(after) > _games(before))
    is_there = any(min(points for *_, points in score) >= _LAST_POINT_AT for score in [*won][:-1])
    told = "no game but the last ended with both sides at their last point"
    return None if is_there else CaseOutcome(CaseVerdict.INFO, told)


def _games(close: Close) -> int:
    return sum(games for games, *_ in close.score)


_HONEST: Final = [
    scene(judged(name, clause, expected, judge), game=game)(arrange)
    for name, clause, expected, judge, game, arrange in (
        (
            "C4.four-seats",
            "play.md#decisions",
            "plays with three others, cutting where it is asked to",
            unended,
            _FOUR,
            plain,
        ),
        ("C4.turn-up", _DEALS, "plays where a card is turned up", unended, TURNED, plain),
        ("C4.closed", _DEALS, "plays where no hand is opened before the end", unended, CLOSED, plain),
        (
            "C4.shares",
            _ACTS,
            "plays a hand of which it is shown its partner's",
            _comes_to("share"),
            PARTNERS,
            share,
        ),
        ("C4.blind", _ACTS, "plays a hand that nobody has seen", _comes_to("open"), PARTNERS, go_blind),
        (
            "C4.games",
            SCORE,
            "begins each game of a match at no points, whatever the `close` says that won the one before",
            begins_anew,
            GAMES,
            go_blind,
        ),
        (
            "C4.rekey",
            _CHAINS,
            "begins a new chain when its own is used up (C27)",
            _comes_to("rekey", 1),
            SHORT_CHAINS,
            decline_all,
        ),
    )
]


def voiding(server: ClientHarness, seat: int, reason: str = "silent") -> Callable[[], Record | None]:
    """Return what voids the first hand as if a seat had not released, or not what fits."""
    silent: list[Puppet] = []

    def instead() -> Record | None:
        ledger = server.at_play()
        if ledger.phase is not Phase.CALLED or ledger.deal_index != _FIRST_HAND:
            return None
        if seat in server.players:
            silent.append(server.players.pop(seat))
        if missing(ledger) != (seat,):
            return None
        server.players.update({puppet.seat: puppet for puppet in silent})
        return server.dealer.void(ledger, reason)

    return instead


def _step_in(server: ClientHarness, newcomer: Puppet) -> None:
    """Void the first hand as if a seat had not released, and let somebody else take it over."""
    void = voiding(server, newcomer.seat)

    def instead() -> Record | None:
        if due(server.at_play()) is not Due.CONSEQUENCE:
            return void()
        server.players[newcomer.seat] = newcomer
        note_cheat(server, server.at_play().k)
        return newcomer.sub(server.at_play())

    server.instead = instead


@scene(
    judged(
        "C4.void",
        _DEALS,
        "plays on when a hand is called again that a link which does not fit has voided (C26)",
        _comes_to("void"),
    ),
    game=CALLING_AGAIN,
)
def _voided(server: ClientHarness) -> None:
    """Void the first hand as if what the other seat released did not fit."""
    server.instead = voiding(server, _OTHER, "link")


@scene(
    judged("C4.substitute", _GONE, "plays on with whoever has taken a seat over", _comes_to("sub")),
    game=STEPPING_IN,
)
def _substituted(server: ClientHarness) -> None:
    """Name the other seat in a void, and let a substitute have it."""
    _step_in(server, Puppet(1, server.seed, person="new "))


def _leaves_the_seat(server: ClientHarness, _end: Exit) -> CaseOutcome | None:
    if server.cheated_at is None:
        return failed("the match never came to a substitute")
    later = signed_after(server, server.cheated_at)
    return failed(f"it signed a {later} record for a seat that it had lost") if later else None


@scene(
    judged(
        "C4.replaced",
        DUTIES,
        "signs nothing more once somebody else's `sub` for its own seat stands in the match",
        _leaves_the_seat,
    ),
    game=STEPPING_IN,
)
def _replaced(server: ClientHarness) -> None:
    """Void the first hand before the client has released, and let somebody else have its seat."""

    def last(record: messages.ServerMessage) -> tuple[messages.ServerMessage]:
        server.nursery.start_soon(end_after, server, CLOSING_S)
        return (record,)

    _step_in(server, Puppet(0, server.seed, person="new "))
    at_first(
        server,
        lambda message: isinstance(message, messages.MatchRecord) and tag_of_body(message.body) == "sub",
        last,
    )
