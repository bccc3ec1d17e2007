"""The cases of level C4, for what only some games and longer matches have: at honest tables, and the planted cheats there.

That is four seats, cards that are turned up, shared, unseen or closed to the end, new chains, substitutes. The puppets see to it
that a match comes to what its case is about, whatever the client plays.
"""

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from truc_conform.client_cases.cheats import (
    CHECKS,
    DUTIES,
    reached,
    signed_after,
    stops,
    stops_by_the_rules,
)
from truc_conform.client_cases.contradictions import show_ruling
from truc_conform.client_cases.seated import on_choice
from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import InconclusiveError, UnexpectedError, require
from truc_conform.forging import (
    Bend,
    Cheat,
    Maker,
    Place,
    RewriteBend,
    bending,
    body_of,
    changing,
    changing_records,
    dealing,
    dealt,
    forging,
    note_cheat,
    on,
    place_of,
    rewriting,
    ruled_out,
    signed_again,
)
from truc_conform.playing import Puppet, may_decide, quiet, secret, signed_position
from truc_conform.result import AnyAct, is_record, signs, tag_of_body
from truc_conform.scenes import (
    CLOSING_S,
    Arrange,
    ClientExit,
    Judge,
    Scene,
    at_first,
    at_message,
    check_faults,
    end_after,
    finishes,
    instead,
    intercepting,
    kill,
    plain,
    said,
    scene,
)
from truc_conform.scripted import PlayedGame
from truc_protocol import messages
from truc_protocol.bodies import Act, Call, Close, Deal, Draw, End, Open, Rekey, Rule, Share, Sub
from truc_protocol.boxes import seal_share
from truc_protocol.codec import dec
from truc_protocol.ledger import Due, due, next_call, seats_missing
from truc_protocol.messages import MatchRecord, ServerMessage
from truc_protocol.records import Phase, Record, parse
from truc_protocol.setup import GONE_SUBSTITUTE, GONE_WAIT, Opts
from truc_rules import Action, Kind

SCORE: Final = "../fairness/specification.md#5-records"
_DEALS: Final = "../fairness/specification.md#6-deals"
_ACTS: Final = "../fairness/specification.md#8-acts"
_CHAINS: Final = "play.md#new-chains"
_GONE: Final = "play.md#a-seat-whose-player-is-gone"

_FOUR: Final = PlayedGame("truc-catalan", 4)
TURNED: Final = PlayedGame("truco-paulista")
PARTNERS: Final = PlayedGame("truco-mineiro", 4, {"target": 3, "blind": "on"})
GAMES: Final = PARTNERS._replace(options={**PARTNERS.options, "match": 3})
CLOSED: Final = PlayedGame(options={"target": 2, "reveal": "match"})
SHORT_CHAINS: Final = PlayedGame(options={"target": 6}, links=2)
CALLING_AGAIN: Final = PlayedGame(opts=Opts(guests=1, gone=GONE_WAIT))
STEPPING_IN: Final = PlayedGame(opts=Opts(guests=1, gone=GONE_SUBSTITUTE))
LAST_POINT: Final = 3
"""The deal index of the hand before which the client's side at PARTNERS has come to its last point."""
BLIND: Final = 5
"""That of the hand before which the other side, after two hands declined, has come to its own."""
_LAST_POINT_AT: Final = 2
"""How many points a side has there at its last one."""
_FIRST_HAND: Final = 1
_OTHER: Final = 1  # the seat across the table


def _preferring(*wanted: Callable[[Action], bool]) -> Arrange:
    """Let the puppets do the first of what is wanted, if they can, and else what keeps the match going."""

    def pick(actions: list[Action]) -> Action:
        found = (action for wish in wanted for action in actions if wish(action))
        return next(found, None) or quiet(actions)

    def arrange(server: ClientHarness) -> None:
        server.pick = lambda _ledger: pick

    return arrange


def _declines(action: Action) -> bool:
    return action.kind is Kind.DECLINE


def _asks_in_vain(action: Action) -> bool:
    """Tell whether an action is how the client's partner asks for more, so that the others give the hand up."""
    return action.kind is (Kind.DECLINE if action.seat % 2 else Kind.RAISE)


share: Final = _preferring(_asks_in_vain)
"""The client's side wins a point in each hand, up to its last one, and plays that."""
go_blind: Final = _preferring(_declines, _asks_in_vain)
"""The client's side comes to its last point, and plays only when the other side is at its own too."""
decline_all: Final = _preferring(_declines)
"""No hand is worth more than a point, so that the match outlasts the chains."""


def _comes_to(kind: str, signer: int | None = None) -> Judge:
    """Return a judge of a whole match that has brought a kind of record."""

    def judge(server: ClientHarness, end: ClientExit) -> None:
        check_faults(server, kind)
        finishes(server, end)
        found = [record for record in server.records if tag_of_body(record.body) == kind]
        is_there = any(signer in (None, record.signer) for record in found)
        require(is_there, f"the match was over before a {kind} record")

    return judge


def begins_anew(server: ClientHarness, end: ClientExit) -> None:
    """Judge a match that has gone on behind a game which left both sides with their last points."""
    finishes(server, end)
    closes = [body for body in map(parse, server.records) if isinstance(body, Close)]
    # specification.md, "Records", Score: the close that wins
    # a game has its points; the next game begins with none.
    won = (after.score for before, after in pairwise(closes) if _games(after) > _games(before))
    if not any(min(points for *_, points in score) >= _LAST_POINT_AT for score in [*won][:-1]):
        raise InconclusiveError("no game but the last ended with both sides at their last point")


def _games(close: Close) -> int:
    return sum(games for games, *_ in close.score)


_HONEST: Final = [
    scene(
        "C4.four-seats",
        "play.md#decisions",
        "plays with three others, cutting where it is asked to",
        finishes,
        game=_FOUR,
    )(plain),
    scene("C4.turn-up", _DEALS, "plays where a card is turned up", finishes, game=TURNED)(plain),
    scene("C4.closed", _DEALS, "plays where no hand is opened before the end", finishes, game=CLOSED)(plain),
    scene(
        "C4.shares",
        _ACTS,
        "plays a hand of which it is shown its partner's",
        _comes_to("share"),
        game=PARTNERS,
    )(share),
    scene("C4.blind", _ACTS, "plays a hand that nobody has seen", _comes_to("open"), game=PARTNERS)(go_blind),
    scene(
        "C4.games",
        SCORE,
        "begins each game of a match at no points, whatever the `close` says that won the one before",
        begins_anew,
        game=GAMES,
    )(go_blind),
    scene(
        "C4.rekey",
        _CHAINS,
        "begins a new chain when its own is used up (C27)",
        _comes_to("rekey", 1),
        game=SHORT_CHAINS,
    )(decline_all),
]


def voiding(server: ClientHarness, seat: int, reason: str = "silent") -> Callable[[], Record | None]:
    """Return what voids the first hand as if a seat had not released, or not what fits."""
    silent: list[Puppet] = []

    def instead() -> Record | None:
        ledger = server.at_play()
        if ledger.phase is not Phase.CALLED or ledger.deal_index != _FIRST_HAND:
            return None
        if seat in server.players:
            # Out of the play, so that it does not release; back again once it is named.
            silent.append(server.players.pop(seat))
        # specification.md, "Deals", Voids: a void names exactly the seats without a release (C26).
        if seats_missing(ledger) != (seat,):
            return None
        server.players.update({puppet.seat: puppet for puppet in silent})
        return server.dealer.void(ledger, reason)

    return instead


def _step_in(server: ClientHarness, newcomer: Puppet) -> None:
    """Void the first hand as if a seat had not released, and let somebody else take it over."""
    void = voiding(server, newcomer.seat)

    def instead() -> Record | None:
        # specification.md, "Deals", New chains: a `sub` needs a seat that is gone, as one that a void names.
        if due(server.at_play()) is not Due.CONSEQUENCE:
            return void()
        server.players[newcomer.seat] = newcomer
        note_cheat(server, server.at_play().k)
        return newcomer.sub(server.at_play())

    server.instead = instead


@scene(
    "C4.void",
    _DEALS,
    "plays on when a hand is called again that a link which does not fit has voided (C26)",
    _comes_to("void"),
    game=CALLING_AGAIN,
)
def _voided(server: ClientHarness) -> None:
    """Void the first hand as if what the other seat released did not fit."""
    server.instead = voiding(server, _OTHER, "link")


@scene(
    "C4.substitute", _GONE, "plays on with whoever has taken a seat over", _comes_to("sub"), game=STEPPING_IN
)
def _substituted(server: ClientHarness) -> None:
    """Name the other seat in a void, and let a substitute have it."""
    _step_in(server, Puppet(1, server.seed, person="new "))


def _leaves_the_seat(server: ClientHarness, _end: ClientExit) -> None:
    if server.cheated_at is None:
        raise UnexpectedError("the match never came to a substitute")
    # specification.md, "What a client does": whoever sees
    # a `sub` of its own seat has been replaced, and stops.
    later = signed_after(server, server.cheated_at)
    require(not later, f"it signed a {later} record for a seat that it had lost")


@scene(
    "C4.replaced",
    DUTIES,
    "signs nothing more once somebody else's `sub` for its own seat stands in the match",
    _leaves_the_seat,
    game=STEPPING_IN,
)
def _replaced(server: ClientHarness) -> None:
    """Void the first hand before the client has released, and let somebody else have its seat."""

    def last(record: messages.ServerMessage) -> tuple[messages.ServerMessage]:
        server.nursery.start_soon(end_after, server, CLOSING_S)
        return (record,)

    _step_in(server, Puppet(0, server.seed, person="new "))
    at_first(server, lambda message: is_record(message, "sub"), last)


@changing(messages.Terms)
def _fewer_seats(server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Offer terms for two of the four seats."""
    return replace(message, record=server.table_record(seats=2))


def _same_player(server: ClientHarness, _end: ClientExit) -> None:
    players = [dec(login.body)[2] for login in said(server, messages.KeyLogin)]
    if players[-1] != players[0]:
        raise InconclusiveError("it is another player when it is started anew")


def _signed_when_started_anew(server: ClientHarness) -> list[str]:
    """Return the kinds of what the client has signed in the match since it was started anew."""
    since = (heard.message for heard in server.heard if heard.link > server.links_before)
    acts = [message for message in since if isinstance(message, messages.SignedAct) and message.match]
    return [tag_of_body(act.body) for act in acts]


def _signs_no_more(server: ClientHarness, end: ClientExit) -> None:
    reached(server, "the cheat")
    signed = _signed_when_started_anew(server)
    require(not signed, f"started anew, it went on in a match that it had stopped: {signed}")
    require(end.code is not None, f"it was still running after {end.seconds:.0f} s")
    require(end.code, "started anew, it ended with exit code 0, as if all were well")


def _twice_in_its_home(name: str, expected: str, judge: Judge = _signs_no_more) -> Callable[[Arrange], Scene]:
    """Make a scene in which the client is started twice, and finds again what it has stored."""
    made = scene(name, DUTIES, expected, _same_player, judge)
    return lambda arrange: made(arrange)._replace(runs=2, keeps_home=True)


@_twice_in_its_home(
    "C4.stopped-for-good",
    "does not go on, when it is started anew, with a match that it has stopped because of somebody's cheat",
)
def _convicted_once(server: ClientHarness) -> None:
    """Draw another first dealer than the links give; afterwards be as honest as can be."""
    rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, body.link, 1 - body.first))(server)
    cheat = server.bend
    server.bend = lambda message: message if server.links_before else cheat(message)


@_twice_in_its_home(
    "C4.history-anew",
    "signs nothing more when it is started anew and is shown another history than it has stored",
)
def _history_anew(server: ClientHarness) -> None:
    """Kill the client behind its second decision, and afterwards show another record before that."""
    _show_another(server)
    on_choice(_end_behind, number=2)(server)


async def _end_behind(server: ClientHarness, message: AnyAct) -> None:
    await server.take(server.record_of(message))
    note_cheat(server, len(server.records) - 1)
    server.done.set()


@intercepting(messages.Resume)
async def _show_another(server: ClientHarness, message: messages.Resume) -> bool:
    if server.cheated_at is None:
        return False
    # Whoever has stored only how far it had come can tell it by the head (specification.md, "What a client does").
    await show_ruling(server, message)
    return True


def _sends_the_same(kind: str) -> Judge:
    """Return a judge of what a client signs for the place at which it was killed."""

    def judge(server: ClientHarness, end: ClientExit) -> None:
        first, *later = (act for act in said(server, messages.SignedAct) if signs(act, kind))
        again = [act.body for act in later if signed_position(act) == signed_position(first)]
        # specification.md, "What a client does": at a place that is taken only the stored bytes are sent.
        require({first.body}.issuperset(again), f"started anew, it signed another {kind} for the same place")
        if not again:
            raise InconclusiveError("it does not go on with a match when it is started anew")
        finishes(server, end)

    return judge


def _killed_at(kind: str) -> Scene:
    expected = f"sends the very same {kind} again when it is killed and started anew in its home"
    made = _twice_in_its_home(f"C4.killed-{kind}", expected, _sends_the_same(kind))
    return made(at_message(lambda message: signs(message, kind), instead(kill)))


_KILLED: Final = [_killed_at("seat"), _killed_at("release"), _killed_at("act")]

_NEXT: Final = 1  # the deal index before whose call a stranger steps in


def _then(cheat: Cheat, play: Arrange) -> Arrange:
    """Arrange a cheat, and that the match comes to it."""

    def arrange(server: ClientHarness) -> None:
        cheat(server)
        play(server)

    return arrange


def _dealing_hand(j: int, **changes: object) -> Cheat:
    """Return a cheat that changes the deals of one index, and signs them again."""

    @changing_records("deal")
    def cheat(server: ClientHarness, message: MatchRecord) -> MatchRecord:
        return signed_again(server, message, **changes) if body_of(message).j == j else message

    return cheat


@changing_records("deal")
def _own_card_up(server: ClientHarness, message: MatchRecord) -> MatchRecord:
    """Turn up a card that the client holds."""
    # C18 names this: of a card turned up only its holder can see that it is dealt twice.
    return signed_again(server, message, up=(server.dealer.openings(server.at_play(), 0)[0].card,))


@dealing
def _another_card_up(server: ClientHarness, body: Deal) -> Deal:
    """Turn up a card that nobody holds, but not the next of the shuffle."""
    after = dealt(server)
    held = {opening.card for seat in range(server.seats) for opening in server.dealer.openings(after, seat)}
    # Held by nobody, or C18 would show it at once.
    free = next(card for card in range(len(server.variant.pack)) if card not in {*held, *body.up})
    return replace(body, up=(free,))


def _shared_otherwise(server: ClientHarness, body: Share) -> Share:
    """Seal the partner's cards to the client in another order: the leaves alone tell."""
    ledger = server.at_play()
    shared = server.dealer.shared(ledger, body.receiver) if body.receiver == 0 else None
    if shared is None:
        return body
    hand = server.dealer.openings(ledger, body.giver)[::-1]
    place = {"j": body.j, "d": body.d, "giver": body.giver, "receiver": body.receiver}
    return replace(body, box=seal_share(shared, body.mid, hand=hand, **place))


def _another_blind_card(place: Place, body: Open) -> Open:
    """Open a card that was not dealt."""
    ((slot, card, salt),) = body.openings
    return Open(*place, body.j, body.d, body.seat, ((slot, (card + 1) % 8, salt),))


@changing_records("open")
def _another_blind_slot(server: ClientHarness, message: MatchRecord) -> MatchRecord:
    """Open another card of the seat than the one it has named."""
    body = body_of(message)
    ((slot, *_),) = body.openings
    other = (slot + 1) % 3
    opening = server.dealer.openings(server.at_play(), body.seat)[other]
    return signed_again(server, message, openings=((other, *opening),))


@bending
def _used_anchor(server: ClientHarness) -> Bend:
    """Let the server begin its new chain where its first one began."""

    def make(place: Place, body: Rekey) -> Rekey:
        return Rekey(*place, 0, body.first, server.at_play().setup.terms.table.anchor, None)

    return RewriteBend(server, Rekey, 0, make)


@bending
def _call_on_nothing(server: ClientHarness) -> Bend:
    """Call the next deal although every chain is used up."""

    def make(place: Place, _body: Rekey) -> Call:
        call = next_call(server.at_play())
        return Call(*place, call.j, call.dealer, call.ncards, call.cut, call.roles)

    return RewriteBend(server, Rekey, 0, make)


def _another_secret(place: Place, body: End) -> End:
    """End with a secret that made none of the boxes."""
    return End(*place, body.next_index, body.links, secret("no x", 1), body.score, body.winner, body.reason)


def _forfeit(kind: str) -> Maker:
    """Return what makes a forfeit of the other seat."""
    return lambda place, body: Rule(*place, body.j, "forfeit", _OTHER, kind, ())


@changing_records("call")
def _stranger(server: ClientHarness, message: MatchRecord) -> MatchRecord:
    """Let somebody else step in for a seat that is not gone, at the place of a call."""
    if body_of(message).j != _NEXT:
        return message
    newcomer, place = Puppet(1, server.seed, person="new "), place_of(server, message.k)
    anchor = newcomer.commit(server.at_play().setup.terms, _NEXT)
    sub = Sub(*place, _NEXT, 1, newcomer.key.public, anchor, newcomer.x.public, newcomer.name)
    return replace(message, **newcomer.sign(sub)._asdict())


@bending
def _forfeit_for_moves(server: ClientHarness) -> Bend:
    """End the match against the other seat, once as many moves in a row were ruled for it as make a seat absent."""
    forged: list[RewriteBend] = []

    def change(message: MatchRecord) -> ServerMessage | None:
        body = body_of(message)
        ruled = sum(isinstance(parse(record), Rule) for record in server.records[: message.k])
        # specification.md, "Rulings": from here on it would stand if opts 4 were not 2.
        if not forged and ruled >= server.opts.gone_after and isinstance(body, Act | Rule):
            forged.append(RewriteBend(server, type(body), body.j, _forfeit("absent")))
        return forged[0](message) if forged else message

    return on(MatchRecord, change)


def _rule_for_the_other(server: ClientHarness) -> None:
    """Rule every move of the other seat."""

    def instead() -> Record | None:
        ledger = server.at_play()
        return server.dealer.move(ledger) if may_decide(ledger, server.players) else None

    server.instead = instead


def _void_a_hand(server: ClientHarness) -> None:
    """Void the first hand, as the other seat does not release."""
    server.instead = voiding(server, _OTHER)


def _cheating(
    game: PlayedGame, play: Arrange, name: str, what: str, cheat: Cheat, *, judge: Judge = stops
) -> Scene:
    """Return a scene of a lie that a check of the records shows, in a game that is played in some way."""
    return scene(name, CHECKS, f"stops at {what}", judge, game=game)(_then(cheat, play))


_turned: Final = partial(_cheating, TURNED, plain)
_sharing: Final = partial(_cheating, PARTNERS, share)
_going_blind: Final = partial(_cheating, PARTNERS, go_blind)
_outlasting: Final = partial(_cheating, SHORT_CHAINS, decline_all)
_CHEATS: Final = [
    _cheating(
        _FOUR,
        plain,
        "C4.cheat-seats",
        "terms for another number of seats than the table showed (C9)",
        _fewer_seats,
    ),
    _turned("C4.cheat-not-turned", "a deal that turns no card up (C17)", _dealing_hand(1, up=())),
    _turned("C4.cheat-own-turned", "a card turned up that it holds (C18)", _own_card_up),
    _turned("C4.cheat-turn-up", "a card turned up that is not the next one (C25)", _another_card_up),
    _sharing(
        "C4.cheat-share",
        "a share that does not open onto its leaves (C18)",
        forging(Share, _shared_otherwise),
    ),
    _sharing(
        "C4.cheat-unshared",
        "a share that is left out (C23), if it knows the rules",
        rewriting(Share, LAST_POINT, lambda place, body: ruled_out(place, body.j)),
        judge=stops_by_the_rules,
    ),
    _going_blind(
        "C4.cheat-blind-box", "boxes in a blind hand (C17)", _dealing_hand(BLIND, boxes=(bytes(64),) * 4)
    ),
    _going_blind(
        "C4.cheat-blind-card",
        "a blind card that was not dealt (C19)",
        rewriting(Open, BLIND, _another_blind_card),
    ),
    _going_blind(
        "C4.cheat-blind-slot",
        "a blind card other than the one named (C23), if it knows the rules",
        _another_blind_slot,
        judge=stops_by_the_rules,
    ),
    _cheating(
        CLOSED,
        plain,
        "C4.cheat-secret",
        "an end with another secret than that of the boxes (C31)",
        rewriting(End, 0, _another_secret),
    ),
    _outlasting(
        "C4.cheat-rekey",
        "a new chain that begins at another deal (C27)",
        rewriting(Rekey, 0, lambda place, body: Rekey(*place, 0, body.first + 1, body.anchor, None)),
    ),
    _outlasting("C4.cheat-anchor", "a new chain with an old anchor (C7)", _used_anchor),
    _outlasting("C4.cheat-exhausted", "a call although a chain is used up (C13)", _call_on_nothing),
    _cheating(
        CALLING_AGAIN,
        _void_a_hand,
        "C4.cheat-early-forfeit",
        "a forfeit behind a single void, where a hand is called again (C22)",
        rewriting(Call, 2, _forfeit("silent")),
    ),
    _cheating(
        CALLING_AGAIN._replace(options={"target": 6}),
        _rule_for_the_other,
        "C4.cheat-ruled-forfeit",
        "a forfeit for ruled moves, where rulings play on (C22)",
        _forfeit_for_moves,
    ),
    _cheating(
        STEPPING_IN,
        plain,
        "C4.cheat-substitute",
        "a substitute for a seat that is not gone (C28)",
        _stranger,
    ),
]
