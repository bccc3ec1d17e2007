"""The cases of level C5 at an honest table whose host sees no card: the client deals, plays, and opens its links.

Then those for what only some games, hands and lines have: new cards, cards turned up, lent and unseen, lost connections. The
puppets see to it that a match comes to what its case is about; where that takes the client too (new cards, an envido), one that
never agrees is not judged further.
"""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from truc_conform.blind_server import BlindHarness
from truc_conform.client_cases.games import GAMES, PARTNERS, SCORE, TURNED, begins_anew, go_blind, share
from truc_conform.client_cases.keyed import has_key
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import InconclusiveError, UnexpectedError, UnofferedError, require
from truc_conform.playing import conceding, quiet, signed_position
from truc_conform.result import signs, tag_of_body
from truc_conform.scenes import (
    Arrange,
    ClientExit,
    Judge,
    Judged,
    OnMessage,
    Scene,
    at_message,
    check_faults,
    each_of,
    enters,
    finishes,
    instead,
    judged,
    kill,
    lose,
    plain,
    said,
    shared_scene,
)
from truc_conform.scripted import FRENCH, PlayedGame
from truc_protocol import messages
from truc_protocol.bodies import Act, Body, Keys, Lock, Rule
from truc_protocol.records import Phase, Record, parse
from truc_rules import Action, Kind

CLIENT: Final = "../fairness/blind.md#what-a-client-does"
_STEPS: Final = ("mask", "lock", "keys", "lend", "release", "garbled")
BlindArrange = Callable[[BlindHarness], None]


def deals(server: ClientHarness, end: ClientExit) -> None:
    """Check that a client takes part in this mode."""
    enters(server, end)
    if isinstance(server, BlindHarness) and not server.deals_here:
        raise UnofferedError("it does not name `blind` and `own-options` in `want`")
    has_key(server, end)


def shared_blind_table(*cases: Judged, game: PlayedGame = FRENCH) -> Callable[[BlindArrange], Scene]:
    """Make a scene that several cases are judged by, of a function that arranges a table whose host sees no card."""

    def made(arrange: BlindArrange) -> Scene:
        def arranged(server: ClientHarness) -> None:
            if not isinstance(server, BlindHarness):
                raise TypeError(f"expected a table of mode blind, got {type(server).__name__}")
            arrange(server)

        return shared_scene(*cases, game=game)(arranged)._replace(harness=BlindHarness)

    return made


def at_blind_table(
    name: str, clause: str, expected: str, *judges: Judge, game: PlayedGame = FRENCH
) -> Callable[[BlindArrange], Scene]:
    """Make a scene of one case at such a table."""
    return shared_blind_table(judged(name, clause, expected, *judges), game=game)


def signed_steps(server: ClientHarness, *kinds: str) -> list[messages.SignedAct]:
    """Return what the client has signed of these kinds, in order."""
    return [act for act in said(server, messages.SignedAct) if tag_of_body(act.body) in kinds]


def _deals(server: ClientHarness, end: ClientExit) -> None:
    missing = [kind for kind in ("mask", "lock", "keys", "release") if not signed_steps(server, kind)]
    if missing and server.ledger is not None and server.ledger.phase is Phase.ENDED:
        raise UnexpectedError(f"it signed no {missing[0]}")
    check_faults(server, *_STEPS)
    finishes(server, end)


def _acks(server: ClientHarness, _end: ClientExit) -> None:
    require(signed_steps(server, "ack"), "it signed no ack")


def takes_each_step_once(server: ClientHarness, end: ClientExit) -> None:
    """Judge a client that is to sign what is due, no two bodies for one place, and to come to the end."""
    taken = {record.body for record in server.records}
    for kind in _STEPS:
        bodies = {act.body: signed_position(act) for act in signed_steps(server, kind)}
        # blind.md, "What a client does": each step once (C51), whatever asks for it again.
        require(len(set(bodies.values())) == len(bodies), f"it signed two of {kind} for one place")
        # blind.md, "What a client does": what is due is found
        # from the records, never from what the server waits for.
        require(taken.issuperset(bodies), f"it signed a {kind} that was not due")
    check_faults(server, *_STEPS)
    finishes(server, end)


@shared_blind_table(
    judged("C5.plays", CLIENT, "deals with the other seat and plays an honest match to its end", _deals),
    judged("C5.ack", "../fairness/specification.md#10-end", "signs the end of the match (C32)", _acks),
)
def _honest(_server: BlindHarness) -> None:
    """Keep to the protocol."""


@at_blind_table(
    "C5.due",
    CLIENT,
    "finds from the records what is due, whatever the server waits for",
    takes_each_step_once,
)
def _waits_for_more(server: BlindHarness) -> None:
    """At each decision of the client, wait for its mask, lock, keys and link as well."""

    def lie(waiting: messages.Waiting) -> Iterable[messages.ServerMessage]:
        # Before the honest one: whoever believes them would take a step that nothing calls for.
        false = ("mask", "lock", "keys", "opening") if waiting.what == "decision" else ()
        return *(replace(waiting, what=what) for what in false), waiting

    server.recast = each_of(messages.Waiting, lie)


def _at_first_step(kind: str, do: OnMessage) -> Arrange:
    """Arrange that something happens with the first step of a kind on its way; what comes again is what is judged."""
    return at_message(lambda message: signs(message, kind), instead(do))


def _losing(kind: str) -> Scene:
    expected = f"sends the very same {kind} again after a lost connection (C51)"
    judges = _was_due(kind), takes_each_step_once
    return at_blind_table(f"C5.again-{kind}", CLIENT, expected, *judges)(_at_first_step(kind, lose))


def _was_due(kind: str) -> Judge:
    return lambda server, _end: require(signed_steps(server, kind), f"it signed no {kind}")


_LOST: Final = [_losing("mask"), _losing("lock"), _losing("keys")]


def _killing(kind: str) -> Scene:
    expected = f"sends the very same {kind} again when it is killed and started anew in its home (C51)"
    judges = _was_due(kind), _came_back(kind)
    made = at_blind_table(f"C5.killed-{kind}", CLIENT, expected, *judges)(_at_first_step(kind, kill))
    # The same home: a step is stored before it is sent, so that it can be sent again.
    return made._replace(runs=2, keeps_home=True)


def _came_back(kind: str) -> Judge:
    def judge(server: ClientHarness, end: ClientExit) -> None:
        if len(signed_steps(server, kind)) == 1:
            raise InconclusiveError("it does not go on with a match when it is started anew")
        takes_each_step_once(server, end)

    return judge


_KILLED: Final = [_killing("mask"), _killing("lock"), _killing("keys")]


_BLIND: Final = "../fairness/blind.md#the-steps"
_RECORDS: Final = "../fairness/blind.md#records"
_OWN: Final = 1  # the client's role
_OTHER: Final = 1  # the seat across the table

FOUR: Final = PlayedGame("truc-catalan", 4)
REDEALT: Final = PlayedGame(options={"target": 6})
SAYING: Final = PlayedGame("truco-argentino", options={"target": 15})


def _redeal(server: BlindHarness) -> None:
    """Propose new cards in each hand, agree to those that the client proposes, and let no hand be worth more than a point."""

    def decide(actions: list[Action]) -> Action:
        by_kind = {action.kind: action for action in actions}
        is_asked_for_more = Kind.DECLINE in by_kind and Kind.ACCEPT not in by_kind  # which a card does here
        return by_kind.get(Kind.DECLINE if is_asked_for_more else Kind.REDEAL) or quiet(actions)

    server.pick = lambda _ledger: decide


def _unreached(what: str) -> InconclusiveError:
    return InconclusiveError(f"the client never agreed to {what}")


def _redealt(server: ClientHarness, _end: ClientExit) -> None:
    """Check that a client has agreed to new cards."""
    acts = [body.kind for body in map(parse, server.records) if isinstance(body, Act)]
    if (Kind.REDEAL, Kind.ACCEPT) not in pairwise(acts):
        raise _unreached("new cards")


def _signs(kind: str, is_meant: Callable[[Body], bool] = lambda _body: True) -> Judge:
    """Return a judge of a whole match in which the client is to take a kind of step that only some hands need."""

    def judge(server: ClientHarness, end: ClientExit) -> None:
        own = [parse(Record(_OWN, act.body, act.sig)) for act in signed_steps(server, kind)]
        takes_each_step_once(server, end)
        require(any(map(is_meant, own)), f"the match was over before such a {kind} record")

    return judge


def _is_of_an_unseen_card(body: Body) -> bool:
    return isinstance(body, Keys) and body.box is None and bool(body.opened)


def _turned(body: Body) -> bool:
    return isinstance(body, Keys) and body.box is not None and bool(body.opened)


_at_four: Final = partial(at_blind_table, game=FOUR)
_with_partners: Final = partial(at_blind_table, game=PARTNERS)
_HONEST: Final = [
    _at_four("C5.four-seats", _BLIND, "deals with three others", takes_each_step_once)(plain),
    at_blind_table(
        "C5.turn-up",
        _BLIND,
        "gives to all the key of a card that is turned up",
        _signs("keys", _turned),
        game=TURNED,
    )(plain),
    _with_partners("C5.lends", _RECORDS, "lends its cards to its partner", _signs("lend"))(share),
    _with_partners(
        "C5.unseen",
        _RECORDS,
        "gives to all its keys of each card of a hand that nobody has seen",
        _signs("keys", _is_of_an_unseen_card),
    )(go_blind),
    at_blind_table(
        "C5.games",
        SCORE,
        "deals the first hand of the next game as one that is seen, whatever the `close` says that won the one before",
        begins_anew,
        game=GAMES,
    )(go_blind),
    at_blind_table(
        "C5.redeal",
        _BLIND,
        "locks and gives keys of new cards once more",
        _redealt,
        _signs("lock", lambda body: isinstance(body, Lock) and body.d > 0),
        game=REDEALT,
    )(_redeal),
]


def _signs_the_same_lock_again(server: ClientHarness, end: ClientExit) -> None:
    signed = (parse(Record(_OWN, act.body, act.sig)) for act in signed_steps(server, "lock"))
    lost = next(body for body in signed if isinstance(body, Lock) and body.d == 1)
    standing = (parse(record) for record in server.records if record.signer == _OWN)
    found = (body for body in standing if isinstance(body, Lock) and (body.j, body.d) == (lost.j, 1))
    taken = next(found, None)  # whoever locks first locks once more at the end
    if taken is None:
        raise UnexpectedError("it signed no lock for the place to which the match had come meanwhile")
    # blind.md, "What a client does": the very same step for its new place; only position and head may differ.
    is_same = (taken.points, taken.commitments) == (lost.points, lost.commitments)
    require(is_same, "it locked the same places in another way")
    finishes(server, end)


@at_blind_table(
    "C5.moved-lock",
    CLIENT,
    "signs the very same lock for its new place when something has come in between (C51)",
    _redealt,
    _signs_the_same_lock_again,
    game=REDEALT,
)
def _moved(server: BlindHarness) -> None:
    """While the first lock of new cards is on its way, let the other seat ask for a pause."""

    async def pause(server: ClientHarness, _message: messages.SignedAct) -> bool:
        await server.take(server.players[_OTHER].act(server.at_play(), "pause"))
        return False

    _redeal(server)
    at_message(_locks_again, pause)(server)


def _locks_again(message: object) -> bool:
    if not isinstance(message, messages.SignedAct) or not signs(message, "lock"):
        return False
    body = parse(Record(_OWN, message.body, message.sig))
    return isinstance(body, Lock) and body.d == 1


@at_blind_table(
    "C5.cut-off",
    CLIENT,
    "goes on with the deal wherever its connection was lost, and signs nothing twice (C51)",
    takes_each_step_once,
)
def _cut_off(server: BlindHarness) -> None:
    """Break the connection after a mask, after keys, and after a close."""
    left = ["mask", "keys", "close"]

    def cut_off(record: messages.MatchRecord) -> Iterable[messages.ServerMessage]:
        if tag_of_body(record.body) in left[:1]:
            left.pop(0)
            server.is_cut_off = True
        return (record,)

    server.recast = each_of(messages.MatchRecord, cut_off)


def _takes_the_forfeit_for_a_false_word(server: ClientHarness, end: ClientExit) -> None:
    bodies = [parse(record) for record in server.records]
    if not any(isinstance(body, Rule) and body.kind == "false" for body in bodies):
        said = any(tag_of_body(record.body) == "act" and _says(record) for record in server.records)
        require(not said, "the seat that said a false value was not exposed")
        raise _unreached("an envido")
    finishes(server, end)


def _other_than(value: object) -> int:
    """Return the highest value that an envido can have, or the next one if that is true."""
    # The highest value of an envido (rules.md 8.4).
    best = 33
    return best if value != best else best - 1


def _says(record: Record) -> bool:
    body = parse(record)
    return record.signer != _OWN and getattr(body, "kind", None) == "points"


@at_blind_table(
    "C5.false-value",
    _RECORDS,
    "takes the forfeit of a seat that said another value than its cards have (C25)",
    _takes_the_forfeit_for_a_false_word,
    game=SAYING,
)
def _false_value(server: BlindHarness) -> None:
    """Ask for an envido in each hand, say a false value, and give the hand up."""
    order = (Kind.POINTS, Kind.ENVIDO, Kind.ACCEPT)

    def decide(actions: list[Action]) -> Action:
        found = next((each for kind in order for each in actions if each.kind is kind), None)
        if found is None:
            return conceding(actions)
        return found._replace(value=_other_than(found.value)) if found.kind is Kind.POINTS else found

    server.pick = lambda _ledger: decide
