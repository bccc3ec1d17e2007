"""The planted cheats of level C3: a lie of the server, or of the other seat, that a verifier must notice.

They are in a record or in the options; those in what follows what stand in contradictions.py. After a cheat the client must
sign nothing for a later position, and its program must end with an exit code other than 0. It may ask again first, where the
lie could be a fault of the line; it is told the same again.
"""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from truc_conform.client_harness import ClientHarness
from truc_conform.expectations import UnadvisedError, UnexpectedError, require
from truc_conform.forging import (
    BEFORE_MATCH,
    BEFORE_SEAT,
    Cheat,
    Place,
    body_of,
    changing,
    changing_records,
    committing,
    deal_body,
    dealt,
    forging,
    note_cheat,
    other_calls,
    rewriting,
    signed_again,
    twisting,
)
from truc_conform.playing import Puppet, quiet, secret, signed_position
from truc_conform.result import tag_of_body
from truc_conform.scenes import (
    ClientExit,
    Scene,
    each_of,
    said,
    scene,
)
from truc_conform.shown import open_options
from truc_protocol import dealing, messages
from truc_protocol.bodies import Act, Call, Close, Deal, Draw, End, Release, Rule
from truc_protocol.boxes import Option, open_hand, seal_hand
from truc_protocol.checks import CheckError
from truc_protocol.crypto.keys import signing_key_from_seed
from truc_protocol.dealer import Dealer
from truc_protocol.dealing import Opening
from truc_protocol.documents import rule_document
from truc_protocol.records import Record, body_hash, parse
from truc_protocol.setup import open_terms
from truc_rules import with_options

CHECKS: Final = "../fairness/specification.md#11-checks"
DUTIES: Final = "../fairness/specification.md#13-what-a-client-does"


def stops(server: ClientHarness, end: ClientExit) -> None:
    """Judge a client that has been cheated."""
    # What it signed for the position itself may have been on its way.
    later = signed_after(server, reached(server, "the cheat"))
    require(not later, f"it signed a record after the cheat: {later}")
    require(end.code is not None, f"it was still running after {end.seconds:.0f} s")
    require(end.code, "it ended with exit code 0, as if all were well")


def reached(server: ClientHarness, what: str) -> int:
    """Return the position of what a case is about."""
    # A client that gives its hands up may end the match before: nothing was shown (conformance.md).
    if server.cheated_at is None:
        raise UnexpectedError(f"the match never reached {what}")
    return server.cheated_at


def signed_after(server: ClientHarness, k: int) -> str | None:
    """Return the kind of the first record that the client has signed for a later position; None if there is none."""
    signed = said(server, messages.SignedAct)
    return next((tag_of_body(act.body) for act in signed if _position(act) > k), None)


def _position(message: messages.SignedAct) -> int:
    return BEFORE_MATCH if message.match is None else signed_position(message)


def stops_by_the_rules(server: ClientHarness, end: ClientExit) -> None:
    """Judge what only the rules show: a client without them may go on, and leave it to a verifier of the transcript."""
    reached(server, "the cheat")
    try:
        stops(server, end)
    except UnexpectedError as unmet:
        raise UnadvisedError(f"{unmet}: only the rules show it") from None


def cheat(name: str, what: str) -> Callable[[Cheat], Scene]:
    """Make a scene of a lie that a check of the records shows."""
    return scene(name, CHECKS, f"stops at {what}", stops)


def of_options(name: str, what: str) -> Callable[[Cheat], Scene]:
    """Make a scene of a lie in the options that the client chooses from."""
    return scene(name, DUTIES, f"refuses {what}", stops)


OTHER: Final = 2  # the role of seat 1
_NO_LINK: Final = secret("no link", 1)
_NO_SIGNATURE: Final = b"\x01" * 64


def _raised(score: Any) -> Any:
    (games, upper, points), theirs = score
    return (games, upper, points + 1), theirs


def _wrong_score(place: Place, body: Close) -> Close:
    """Close a hand with a point too many."""
    return Close(*place, body.j, body.link, _raised(body.score), body.reason)


_SCORE: Final = scene(
    "C3.cheat-score",
    CHECKS,
    "stops at a score with a point too many (C24), if it knows the rules",
    stops_by_the_rules,
)(rewriting(Close, 1, _wrong_score))


@cheat("C3.cheat-signature", "a record with an invalid signature (C3)")
@changing_records("deal")
def _bad_signature(_server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
    """Break the signature of the deals."""
    return replace(message, sig=_NO_SIGNATURE)


@cheat("C3.cheat-forged-act", "an act of the other seat without that seat's signature (C3)")
@changing_records("act")
def _forged_act(server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
    """Let the server sign acts in the name of the other seat, with its own key."""
    # A valid signature, but not of the seat whose act it says it is.
    return replace(message, sig=server.key.sign(message.body)) if message.signer == OTHER else message


@cheat("C3.cheat-document", "a rule document other than the signed one (C5)")
@changing(messages.Terms)
def _other_document(_server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Send a rule document that is not the one signed."""
    # The least that is not what the hash of the terms names; whether it can be read is beside the point.
    return replace(message, doc=message.doc + b"\n")


@cheat("C3.cheat-terms", "terms other than those the table showed (C9)")
@changing(messages.Terms)
def _other_terms(server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Offer other terms than the table showed."""
    # Signed and sound: nothing but a comparison with the notice
    # `table` shows it (specification.md, "What a client does").
    opts = server.opts._replace(voids=9)
    return replace(message, record=server.table_record(opts=opts))


@cheat("C3.cheat-late-table", "terms that the table showed only after the client had said `ready` (C9)")
def _shown_late(server: ClientHarness) -> None:
    """Show other terms when everybody is ready, and offer those."""

    def late(message: messages.Terms) -> tuple[messages.ServerMessage, ...]:
        note_cheat(server, BEFORE_SEAT)
        opts = server.opts._replace(voids=9)
        terms = server.dealer.terms(
            server.variant, seats=2, opts=opts, name="a server", opened_at=1_700_000_000
        )
        return replace(server.state(), opts=tuple(opts)), replace(message, record=terms.record)

    server.recast = each_of(messages.Terms, late)


@cheat("C3.cheat-rules", "another game than the table showed, signed with its document (C9)")
@changing(messages.Terms)
def _other_rules(server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Offer a game to one point more."""
    # The document is the one that is signed (C5): as with other terms the notice `table` alone shows it.
    longer = with_options(server.variant, {"target": server.variant.scoring.target + 1})
    return replace(message, record=server.table_record(variant=longer), doc=rule_document(longer))


@cheat("C3.cheat-host", "terms of another host than the one that the hello proved (C9)")
@changing(messages.Terms)
def _another_host(server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Offer terms under another key, which has signed them."""
    # Sound by themselves: whoever does not compare keys signs for a server that it has never met.
    dealer = Dealer(signing_key_from_seed(secret("another server", 1)), server.dealer.secrets, links=64)
    return replace(message, record=server.table_record(dealer))


@cheat("C3.cheat-unsigned-terms", "terms that the server has not signed (C3)")
@changing(messages.Terms)
def _unsigned_terms(_server: ClientHarness, message: messages.Terms) -> messages.Terms:
    """Offer the terms with a signature that does not hold."""
    return replace(message, record=Record(*message.record)._replace(sig=_NO_SIGNATURE))


@cheat("C3.cheat-unsigned-seat", "a setup in which the other seat has not signed (C3)")
@changing(messages.Setup)
def _unsigned_seat(_server: ClientHarness, message: messages.Setup) -> messages.Setup:
    """Begin the match with a seat whose signature does not hold."""
    # A match lists bodies, not signatures (C8): all else is as it should be.
    table, own, other, match = (Record(*record) for record in message.records)
    return replace(message, records=(table, own, other._replace(sig=_NO_SIGNATURE), match))


@cheat("C3.cheat-seat", "a setup with somebody else in the client's own seat (C9)")
@changing(messages.Setup)
def _puppet_in_the_seat(server: ClientHarness, message: messages.Setup) -> messages.Setup:
    """Begin the match with a puppet in the client's seat."""
    table, _, other, _ = (Record(*record) for record in message.records)
    terms = open_terms(server.document, table)
    seats = (Puppet(0, 99).join(terms), other)
    began = server.dealer.match_record(terms, seats)
    return replace(message, match=body_hash(began), records=(table, *seats, began))


_HEAD: Final = cheat("C3.cheat-head", "a record that names the wrong head (C10)")(
    other_calls(head=b"\x01" * 32)
)


@cheat("C3.cheat-position", "a record one position too high (C10)")
@changing_records("deal")
def _one_further(_server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
    """Send a deal as if it stood one position further on."""
    # The record is honest; its head alone tells that it stands elsewhere.
    return replace(message, k=message.k + 1)


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


_EXCHANGED: Final = (1, 0, 2)
"""By slot the one whose card is said to lie there."""


def _sealed_otherwise(server: ClientHarness, body: Deal) -> Deal:
    shared, place = server.dealer.shared(server.at_play(), 0), {"j": body.j, "d": body.d, "seat": 0}
    if shared is None:
        return body
    hand = open_hand(shared, body.mid, box=body.boxes[0], **place)
    box = seal_hand(shared, body.mid, hand=[hand[slot] for slot in _EXCHANGED], **place)
    return replace(body, boxes=(box, *body.boxes[1:]))


@cheat("C3.cheat-box", "a boxed hand that does not open onto its leaves (C18)")
def _exchanged(server: ClientHarness) -> None:
    """Seal two of the client's cards each in the other's place, and offer them so: the leaves alone tell."""

    def exchange(option: Option) -> Option:
        if option.kind != "play":
            return option
        slot, *rest = option.args
        return option._replace(args=(_EXCHANGED[slot], *rest))

    forging(Deal, _sealed_otherwise)(server)
    server.twist = exchange
    server.pick = lambda _ledger: quiet


def _in_plays(change: Callable[..., tuple[Any, ...]]) -> Cheat:
    """Return a cheat in the cards that the other seat plays; `change` is given the size of the pack, and the arguments."""

    @changing_records("act")
    def cheat(server: ClientHarness, message: messages.MatchRecord) -> messages.MatchRecord:
        body = body_of(message)
        if (message.signer, body.kind) != (OTHER, "play"):
            return message
        return signed_again(server, message, args=change(len(server.variant.pack), *body.args))

    return cheat


_PLAYS: Final = [
    cheat("C3.cheat-card", "a card that the other seat plays but does not hold (C19)")(
        _in_plays(lambda pack, slot, card, *rest: (slot, (card + 1) % pack, *rest))
    ),
    cheat("C3.cheat-slot", "a card played from the wrong slot (C19)")(
        _in_plays(lambda _pack, slot, *opening: ((slot + 1) % 3, *opening))
    ),
]


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
    # None of the client's own: a card that lies open twice would show it before the close (C25).
    own, _ = (server.dealer.openings(dealt(server), seat) for seat in range(2))
    held = {opening.card for opening in own}
    free = [card for card in range(len(server.variant.pack)) if card not in held][:3]
    other = tuple(Opening(card, secret(f"salt {card}", 1)[:16]) for card in free)
    return dealing.leaves(server.at_play().setup.mid, j=body.j, d=body.d, hands=(own, other))[1]


_CLIENT: Final = 1  # the role of seat 0


@of_options("C3.cheat-options-again", "a box of options with a counter used before")
def _one_counter(server: ClientHarness) -> None:
    """Seal all options under one counter."""
    server.one_counter = True

    def note_second(options: messages.BoxedOptions) -> tuple[messages.ServerMessage]:
        # The first box is sound: only the second one has a counter that does not rise.
        if any(isinstance(sent, messages.BoxedOptions) for sent in server.sent):
            note_cheat(server, options.at - 1)
        return (options,)

    server.recast = each_of(messages.BoxedOptions, note_second)


@of_options("C3.cheat-options-foreign", "an option that opens a card that is not the client's")
@twisting
def _foreign_card(server: ClientHarness, option: Option) -> Option:
    """Let an option open the next card of the pack."""
    slot, card, *rest = option.args
    pack = server.variant.pack
    foreign = (int(str(card)) + 1) % len(pack)
    # The line says what the option makes: that the card is not the client's its opening alone shows.
    line = option.line.replace(str(pack[int(str(card))]), str(pack[foreign]))
    return option._replace(args=(slot, foreign, *rest), line=line)


@of_options("C3.cheat-options-line", "an option that says one move and makes another")
@twisting
def _another_line(_server: ClientHarness, option: Option) -> Option:
    """Let an option say that it concedes."""
    # specification.md, "Boxes": `line` is made of kind and args alone.
    return option._replace(line="concede")


def _signs_nothing_forbidden(server: ClientHarness, end: ClientExit) -> None:
    reached(server, "the cheat")
    # C20 names who signed, also where the server had offered it: a client without the rules cannot tell.
    if server.done.is_set():
        raise UnadvisedError("it signed what the rules forbid: its seat could be blamed")
    require(end.code is not None, f"it was still running after {end.seconds:.0f} s")


@scene(
    "C3.cheat-options-forbidden",
    DUTIES,
    "does not sign what the rules forbid (C20), if it knows the rules",
    _signs_nothing_forbidden,
)
def _forbidden(server: ClientHarness) -> None:
    """Offer to accept what nobody has asked for, in the place of cards, until that is signed."""
    offered: set[int] = set()

    def accepting(_server: ClientHarness, _option: Option) -> Option:
        offered.add(server.at_play().k)
        return Option("accept", (), "accept")

    async def end_at_it(message: messages.ClientMessage) -> bool:
        if (
            isinstance(message, messages.SignedAct)
            and signed_position(message) in offered
            and _accepts(message)
        ):
            server.done.set()
        return server.done.is_set()

    twisting(accepting)(server)
    server.intercepts.append(end_at_it)


def _accepts(message: messages.SignedAct) -> bool:
    """Tell whether a client signs that it accepts."""
    try:
        body = parse(Record(_CLIENT, message.body, message.sig))
    except CheckError:
        return False
    return isinstance(body, Act) and body.kind == "accept"


@of_options("C3.cheat-options-clear", "options outside their box")
@changing(messages.BoxedOptions)
def _in_clear(_server: ClientHarness, message: messages.BoxedOptions) -> messages.OpenOptions:
    """Offer to concede, without a box."""
    return open_options(message.match, message.at, message.offer, (Option("concede", (), "concede"),))
