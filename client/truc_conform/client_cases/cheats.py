"""The planted cheats of level C3 in a record: a lie of the server, or of the other seat, that a verifier must notice.

After it the client must sign nothing for a later position, and its program must end with an exit code other than 0. It
may ask again first, where the lie could be a fault of the line; it is told the same again.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from truc_conform.client_cases.stopping import CHECKS, cheat, stops_by_the_rules
from truc_conform.client_harness import ClientHarness
from truc_conform.forging import (
    Bend,
    Place,
    bending,
    body_of,
    committing,
    deal_body,
    dealt,
    on,
    on_record,
    other_calls,
    resigned,
    rewriting,
)
from truc_conform.playing import Puppet, secret
from truc_conform.scenes import judged, scene
from truc_protocol import dealing, messages
from truc_protocol.bodies import Act, Call, Close, Deal, Draw, End, Release, Rule
from truc_protocol.dealing import Opening
from truc_protocol.records import Record, body_hash
from truc_protocol.setup import open_terms

_OTHER: Final = 2  # the role of seat 1
_NO_LINK: Final = secret("no link", 1)


def _raised(score: Any) -> Any:
    (games, upper, points), theirs = score
    return (games, upper, points + 1), theirs


def _wrong_score(place: Place, body: Close) -> Close:
    """Close a hand with a point too many."""
    return Close(*place, body.j, body.link, _raised(body.score), body.reason)


_SCORE: Final = scene(
    judged(
        "C3.cheat-score",
        CHECKS,
        "stops at a score with a point too many (C24), if it knows the rules",
        stops_by_the_rules,
    )
)(rewriting(Close, 1, _wrong_score))


@cheat("C3.cheat-signature", "a record with an invalid signature (C3)")
@bending
def _bad_signature(_server: ClientHarness) -> Bend:
    """Break the signature of the deals."""
    return on_record("deal", lambda message: replace(message, sig=b"\x01" * 64))


@cheat("C3.cheat-forged-act", "an act of the other seat without that seat's signature (C3)")
@bending
def _forged_act(server: ClientHarness) -> Bend:
    """Let the server sign acts in the name of the other seat, with its own key."""

    def change(message: messages.MatchRecord) -> messages.MatchRecord:
        if message.signer != _OTHER:
            return message
        return replace(message, sig=server.key.sign(message.body))

    return on_record("act", change)


@cheat("C3.cheat-document", "a rule document other than the signed one (C5)")
@bending
def _other_document(_server: ClientHarness) -> Bend:
    """Send a rule document that is not the one signed."""
    return on(messages.Terms, lambda message: replace(message, doc=message.doc + b"\n"))


@cheat("C3.cheat-terms", "terms other than those the table showed (C9)")
@bending
def _other_terms(server: ClientHarness) -> Bend:
    """Offer other terms than the table showed."""

    def change(message: messages.Terms) -> messages.Terms:
        opts = server.opts._replace(voids=9)
        terms = server.dealer.terms(server.variant, seats=2, opts=opts, name="a server", opened=1_700_000_000)
        return replace(message, record=terms.record)

    return on(messages.Terms, change)


@cheat("C3.cheat-seat", "a setup with somebody else in the client's own seat (C9)")
@bending
def _puppet_in_the_seat(server: ClientHarness) -> Bend:
    """Begin the match with a puppet in the client's seat."""

    def change(message: messages.Setup) -> messages.Setup:
        table, _, other, _ = (Record(*record) for record in message.records)
        terms = open_terms(server.document, table)
        seats = (Puppet(0, 99).join(terms), other)
        began = server.dealer.match_record(terms, seats)
        return replace(message, match=body_hash(began), records=(table, *seats, began))

    return on(messages.Setup, change)


_HEAD: Final = cheat("C3.cheat-head", "a record that names the wrong head (C10)")(
    other_calls(head=b"\x01" * 32)
)


@cheat("C3.cheat-position", "a record one position too high (C10)")
@bending
def _one_further(_server: ClientHarness) -> Bend:
    """Send a deal as if it stood one position further on."""
    return on_record("deal", lambda message: replace(message, k=message.k + 1))


def _wrong_close_link(place: Place, body: Close) -> Close:
    """Open a hand with a number that was not committed to."""
    return Close(*place, body.j, _NO_LINK, body.score, body.reason)


_CALLS: Final = [
    cheat("C3.cheat-called-twice", "a deal that is called twice (C11)")(
        rewriting(Release, 1, lambda place, body: Call(*place, body.j, 0, 3, 0, (0, 1, 2)))
    ),
    cheat("C3.cheat-dealer", "a call for the wrong dealer, signed anew (C13)")(other_calls(dealer=1, cut=9)),
    cheat("C3.cheat-left-out", "a call that leaves a contributor out (C13)")(
        rewriting(
            Call, 1, lambda place, body: Call(*place, body.j, body.dealer, body.ncards, body.cut, (0, 2))
        )
    ),
    cheat("C3.cheat-draw-link", "a draw with a number never committed to (C14)")(
        rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, _NO_LINK, body.first))
    ),
    cheat("C3.cheat-close-link", "a hand opened by a number never committed to (C14)")(
        rewriting(Close, 1, _wrong_close_link)
    ),
    cheat("C3.cheat-early-deal", "a deal before all have released (C15)")(
        rewriting(Release, 1, lambda place, body: deal_body(place, body.j))
    ),
    cheat("C3.cheat-draw", "a draw with the wrong result (C16)")(
        rewriting(Draw, 0, lambda place, body: Draw(*place, body.j, body.link, 1 - body.first))
    ),
    cheat("C3.cheat-deal", "a deal whose cut is not the one called (C17)")(
        rewriting(Deal, 1, lambda place, body: deal_body(place, body.j, dealer=body.dealer, cut=7))
    ),
]


@cheat("C3.cheat-box", "a boxed hand that does not open onto its leaves (C18)")
@bending
def _swapped_boxes(server: ClientHarness) -> Bend:
    """Give each seat the box of the other."""
    return on_record(
        "deal",
        lambda message: resigned(server, message, boxes=tuple(reversed(body_of(message).boxes))),
    )


def _plays_of_the_other(server: ClientHarness, change: Callable[[Act], tuple[Any, ...]]) -> Bend:
    def bend(message: messages.MatchRecord) -> messages.MatchRecord:
        body = body_of(message)
        if not isinstance(body, Act) or (message.signer, body.kind) != (_OTHER, "play"):
            return message
        return resigned(server, message, args=change(body))

    return on(messages.MatchRecord, bend)


@cheat("C3.cheat-card", "a card that the other seat plays but does not hold (C19)")
@bending
def _another_card(server: ClientHarness) -> Bend:
    """Let the other seat open a card that it does not hold."""

    def change(body: Act) -> tuple[Any, ...]:
        slot, card, salt, ask = body.args
        return slot, (card + 1) % len(server.variant.pack), salt, ask

    return _plays_of_the_other(server, change)


@cheat("C3.cheat-slot", "a card played from the wrong slot (C19)")
@bending
def _another_slot(server: ClientHarness) -> Bend:
    """Let the other seat open a card from another slot."""

    def change(body: Act) -> tuple[Any, ...]:
        slot, *opening = body.args
        return (slot + 1) % 3, *opening

    return _plays_of_the_other(server, change)


def _wrong_winner(place: Place, body: End) -> End:
    """End the match in favour of the side that has lost it."""
    winner = 1 - body.winner if body.winner is not None else 0
    return End(*place, body.next_index, body.links, body.xsec, body.score, winner, body.reason)


_ENDS: Final = [
    cheat("C3.cheat-ruling", "a ruling without a cause (C22)")(
        rewriting(Act, 1, lambda place, body: Rule(*place, body.j, "forfeit", 0, "absent", ()))
    ),
    cheat("C3.cheat-winner", "a match that ends with the wrong winner (C24)")(
        rewriting(End, 0, _wrong_winner)
    ),
]


@cheat("C3.cheat-leaf", "a card swapped under its commitment (C25)")
@committing
def _swapped_leaf(_server: ClientHarness, body: Deal) -> tuple[bytes, ...]:
    """Return the commitments to the cards of the other seat, one of them to nothing."""
    return (secret("leaf", 1), *body.leaves[1][1:])


@cheat("C3.cheat-shuffle", "cards that are not from the shuffle (C25)")
@committing
def _unshuffled(server: ClientHarness, body: Deal) -> tuple[bytes, ...]:
    """Return commitments to cards for the other seat that are not from the shuffle."""
    own, _ = (server.dealer.openings(dealt(server), seat) for seat in range(2))
    held = {opening.card for opening in own}
    free = [card for card in range(len(server.variant.pack)) if card not in held][:3]
    other = tuple(Opening(card, secret(f"salt {card}", 1)[:16]) for card in free)
    return dealing.leaves(server.at_play().setup.mid, j=body.j, d=body.d, hands=(own, other))[1]
