"""The planted cheats of level C4: lies about what only some games and longer matches have.

A client is judged as at level C3. What only the rules show, one without them may leave to a verifier.
"""

from typing import Final

from msgspec.structs import replace

from truc_conform.client_cases.games import (
    BLIND,
    CALLING_AGAIN,
    CLOSED,
    LAST_POINT,
    PARTNERS,
    SHORT_CHAINS,
    STEPPING_IN,
    TURNED,
    decline_all,
    go_blind,
    share,
    voiding,
)
from truc_conform.client_cases.stopping import CHECKS, stops, stops_by_the_rules
from truc_conform.client_harness import ClientHarness
from truc_conform.forging import (
    Bend,
    Cheat,
    Maker,
    Place,
    Rewrite,
    bending,
    body_of,
    dealing,
    dealt,
    on,
    on_record,
    place_of,
    resigned,
    rewriting,
    ruled_out,
)
from truc_conform.playing import Puppet, may_decide, secret
from truc_conform.scenes import Arrange, judged, plain, scene
from truc_protocol.bodies import Act, Call, Deal, End, Open, Rekey, Rule, Share, Sub
from truc_protocol.ledger import next_call
from truc_protocol.messages import MatchRecord, ServerMessage
from truc_protocol.records import Record, parse

_OTHER: Final = 1  # the seat across the table
_NEXT: Final = 1  # the deal index before whose call a stranger steps in


def _then(cheat: Cheat, play: Arrange) -> Arrange:
    """Arrange a cheat, and that the match comes to it."""

    def arrange(server: ClientHarness) -> None:
        cheat(server)
        play(server)

    return arrange


def _dealing_hand(j: int, **changes: object) -> Cheat:
    """Return a cheat that changes the deals of one index, and signs them again."""

    def bend(server: ClientHarness) -> Bend:
        return on_record(
            "deal",
            lambda message: resigned(server, message, **changes) if body_of(message).j == j else message,
        )

    return bending(bend)


@bending
def _own_card_up(server: ClientHarness) -> Bend:
    """Turn up a card that the client holds."""

    def change(message: MatchRecord) -> MatchRecord:
        card = server.dealer.openings(server.at_play(), 0)[0].card
        return resigned(server, message, up=(card,))

    return on_record("deal", change)


@dealing
def _another_card_up(server: ClientHarness, body: Deal) -> Deal:
    """Turn up a card that nobody holds, but not the next of the shuffle."""
    after = dealt(server)
    held = {opening.card for seat in range(server.seats) for opening in server.dealer.openings(after, seat)}
    free = next(card for card in range(len(server.variant.pack)) if card not in {*held, *body.up})
    return replace(body, up=(free,))


@bending
def _garbled_share(server: ClientHarness) -> Bend:
    """Let the box of the partner's cards open to nothing."""

    def change(message: MatchRecord) -> MatchRecord:
        is_own = body_of(message).receiver == 0
        return resigned(server, message, box=bytes(len(body_of(message).box))) if is_own else message

    return on_record("share", change)


def _another_blind_card(place: Place, body: Open) -> Open:
    """Open a card that was not dealt."""
    ((slot, card, salt),) = body.openings
    return Open(*place, body.j, body.d, body.seat, ((slot, (card + 1) % 8, salt),))


@bending
def _another_blind_slot(server: ClientHarness) -> Bend:
    """Open another card of the seat than the one it has named."""

    def change(message: MatchRecord) -> MatchRecord:
        body = body_of(message)
        ((slot, *_),) = body.openings
        other = (slot + 1) % 3
        opening = server.dealer.openings(server.at_play(), body.seat)[other]
        return resigned(server, message, openings=((other, *opening),))

    return on_record("open", change)


@bending
def _used_anchor(server: ClientHarness) -> Bend:
    """Let the server begin its new chain where its first one began."""

    def make(place: Place, body: Rekey) -> Rekey:
        return Rekey(*place, 0, body.first, server.at_play().setup.terms.table.anchor, None)

    return Rewrite(server, Rekey, 0, make)


@bending
def _call_on_nothing(server: ClientHarness) -> Bend:
    """Call the next deal although every chain is used up."""

    def make(place: Place, _body: Rekey) -> Call:
        call = next_call(server.at_play())
        return Call(*place, call.j, call.dealer, call.ncards, call.cut, call.roles)

    return Rewrite(server, Rekey, 0, make)


def _another_secret(place: Place, body: End) -> End:
    """End with a secret that made none of the boxes."""
    return End(*place, body.next_index, body.links, secret("no x", 1), body.score, body.winner, body.reason)


def _forfeit(kind: str) -> Maker:
    """Return what makes a forfeit of the other seat."""
    return lambda place, body: Rule(*place, body.j, "forfeit", _OTHER, kind, ())


@bending
def _stranger(server: ClientHarness) -> Bend:
    """Let somebody else step in for a seat that is not gone, at the place of a call."""
    newcomer = Puppet(1, server.seed, person="new ")

    def change(message: MatchRecord) -> MatchRecord:
        if body_of(message).j != _NEXT:
            return message
        place = place_of(server, message.k)
        anchor = newcomer.commit(server.at_play().setup.terms, _NEXT)
        signed = newcomer.sign(
            Sub(*place, _NEXT, 1, newcomer.key.public, anchor, newcomer.x.public, newcomer.name)
        )
        return replace(message, signer=signed.signer, body=signed.body, sig=signed.sig)

    return on_record("call", change)


@bending
def _forfeit_for_moves(server: ClientHarness) -> Bend:
    """End the match against the other seat, once as many moves in a row were ruled for it as make a seat absent."""
    forged: list[Rewrite] = []

    def change(message: MatchRecord) -> ServerMessage | None:
        body = body_of(message)
        ruled = sum(isinstance(parse(record), Rule) for record in server.records[: message.k])
        if not forged and ruled >= server.opts.gone_after and isinstance(body, Act | Rule):
            forged.append(Rewrite(server, type(body), body.j, _forfeit("absent")))
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


_CHEATS: Final = [
    scene(judged(name, CHECKS, f"stops at {what}", judge), game=game)(_then(cheat, play))
    for name, what, judge, cheat, game, play in (
        (
            "C4.cheat-not-turned",
            "a deal that turns no card up (C17)",
            stops,
            _dealing_hand(1, up=()),
            TURNED,
            plain,
        ),
        ("C4.cheat-own-turned", "a card turned up that it holds (C18)", stops, _own_card_up, TURNED, plain),
        (
            "C4.cheat-turn-up",
            "a card turned up that is not the next one (C25)",
            stops,
            _another_card_up,
            TURNED,
            plain,
        ),
        (
            "C4.cheat-share",
            "a share that does not open onto its leaves (C18)",
            stops,
            _garbled_share,
            PARTNERS,
            share,
        ),
        (
            "C4.cheat-unshared",
            "a share that is left out (C23), if it knows the rules",
            stops_by_the_rules,
            rewriting(Share, LAST_POINT, lambda place, body: ruled_out(place, body.j)),
            PARTNERS,
            share,
        ),
        (
            "C4.cheat-blind-box",
            "boxes in a blind hand (C17)",
            stops,
            _dealing_hand(BLIND, boxes=(bytes(64),) * 4),
            PARTNERS,
            go_blind,
        ),
        (
            "C4.cheat-blind-card",
            "a blind card that was not dealt (C19)",
            stops,
            rewriting(Open, BLIND, _another_blind_card),
            PARTNERS,
            go_blind,
        ),
        (
            "C4.cheat-blind-slot",
            "a blind card other than the one named (C23), if it knows the rules",
            stops_by_the_rules,
            _another_blind_slot,
            PARTNERS,
            go_blind,
        ),
        (
            "C4.cheat-secret",
            "an end with another secret than that of the boxes (C31)",
            stops,
            rewriting(End, 0, _another_secret),
            CLOSED,
            plain,
        ),
        (
            "C4.cheat-rekey",
            "a new chain that begins at another deal (C27)",
            stops,
            rewriting(Rekey, 0, lambda place, body: Rekey(*place, 0, body.first + 1, body.anchor, None)),
            SHORT_CHAINS,
            decline_all,
        ),
        (
            "C4.cheat-anchor",
            "a new chain with an old anchor (C7)",
            stops,
            _used_anchor,
            SHORT_CHAINS,
            decline_all,
        ),
        (
            "C4.cheat-exhausted",
            "a call although a chain is used up (C13)",
            stops,
            _call_on_nothing,
            SHORT_CHAINS,
            decline_all,
        ),
        (
            "C4.cheat-early-forfeit",
            "a forfeit behind a single void, where a hand is called again (C22)",
            stops,
            rewriting(Call, 2, _forfeit("silent")),
            CALLING_AGAIN,
            _void_a_hand,
        ),
        (
            "C4.cheat-ruled-forfeit",
            "a forfeit for ruled moves, where rulings play on (C22)",
            stops,
            _forfeit_for_moves,
            CALLING_AGAIN._replace(options={"target": 6}),
            _rule_for_the_other,
        ),
        (
            "C4.cheat-substitute",
            "a substitute for a seat that is not gone (C28)",
            stops,
            _stranger,
            STEPPING_IN,
            plain,
        ),
    )
]
