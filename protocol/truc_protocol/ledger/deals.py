"""The records that make a deal: call, release, draw, deal, void; and rekey and substitution between two deals."""

from collections.abc import Sequence
from reprlib import repr as shorten

from msgspec.structs import replace

from truc_protocol import dealing
from truc_protocol.bodies import Call, Close, Deal, Draw, Rekey, Release, Sub, Void
from truc_protocol.checks import CheckError, role_name
from truc_protocol.ledger import blind_records
from truc_protocol.ledger.chain_links import open_link, with_contributor
from truc_protocol.ledger.state import (
    Contributor,
    HandLog,
    Ledger,
    ServerChain,
    Taken,
    awaits_substitutes,
    check_index,
    deal_public,
    is_exhausted,
    is_gone,
    roles,
    seats_missing,
)
from truc_protocol.records import BLIND, SERVER, Phase
from truc_protocol.setup import GONE_SUBSTITUTE, check_box_key, commitments, is_utf8
from truc_rules import (
    Card,
    Match,
    Seat,
    awaits_deal,
    deal,
    deciders,
    know_all,
    new_match,
)


def next_call(ledger: Ledger) -> Call:
    """Return the only call that may come now (P0): every field follows from the records before it."""
    dealer, ncards = 0, 0
    if ledger.match is not None:
        dealer, ncards = ledger.match.dealer, ledger.match.hand.dealt.each
    return Call(
        ledger.setup.mid, ledger.k, ledger.head, ledger.deal_index, dealer, ncards, ledger.cut, roles(ledger)
    )


def call(ledger: Ledger, body: Call) -> Ledger:
    """Take the call of the next index.

    Raises:
        CheckError: C12; C13 a field that does not follow, an exhausted chain, or an open decision; C26 after a void.
    """
    check_index(ledger, body.j, "server")
    if ledger.match is not None and deciders(ledger.match):
        raise CheckError("C13", "a call while a decision before the deal is open", "server")
    if awaits_substitutes(ledger):
        raise CheckError(
            "C26", f"expected substitutes for seats {list(ledger.silent)} before the next call", "server"
        )
    expected = next_call(ledger)
    if body != expected:
        raise CheckError("C13", f"expected {_call_text(expected)}, got {_call_text(body)}", "server")
    # nobody could open a link of such a chain: its owner begins a new one first (specification.md 4)
    for role in body.roles:
        if is_exhausted(ledger, role):
            raise CheckError(
                "C13", f"the chain of {role_name(role)} has no link for index {body.j}", "server"
            )
    hand = None
    # the draw is made as in mode dealt: only a hand has a pack to be sealed (blind.md, "Records")
    if ledger.match is not None and ledger.setup.terms.table.mode == BLIND:
        hand = blind_records.begin_blind_hand(ledger, body, ledger.match)
    # a seat stays named by a void until the next call, no longer (specification.md 6)
    return replace(ledger, phase=Phase.CALLED, call=body, silent=(), blind_hand=hand)


def _call_text(body: Call) -> str:
    return f"index {body.j}, dealer {body.dealer}, {body.ncards} cards, cut {body.cut}, roles {shorten(body.roles)}"


def release(ledger: Ledger, body: Release) -> Ledger:
    """Take a seat's link of the open index.

    Raises:
        CheckError: C12, C14, C15.
    """
    role = body.seat + 1
    check_index(ledger, body.j, role_name(role))
    if body.seat not in seats_missing(ledger):
        # whoever wrote the list can put the same link there twice, but another one only the seat can sign
        culprit = None if (role, body.link) in ledger.released else role_name(role)
        waiting = list(seats_missing(ledger))
        raise CheckError("C15", f"expected releases of seats {waiting}, got seat {body.seat}", culprit)
    opened = open_link(ledger, role, body.link)
    # releases come in any order, but the seed hashes the links by ascending role (specification.md 6)
    released = tuple(sorted((*ledger.released, (role, body.link))))
    return replace(opened, released=released)


def server_link(ledger: Ledger, link: bytes | None) -> Ledger:
    """Take the server's link of a close or void: present under "hand", nil under "match", and in mode blind.

    Raises:
        CheckError: C14.
    """
    if (link is not None) != ledger.link_at_close:
        expected = "the server's link" if ledger.link_at_close else "nil"
        raise CheckError("C14", f"reveal = {ledger.setup.terms.table.policy}: expected {expected}", "server")
    return ledger if link is None else open_link(ledger, SERVER, link)


def check_server_link(ledger: Ledger, body: Close) -> bytes | None:
    """Return the server's link that a close opens, or None if it opens none; the ledger stays as it is.

    Raises:
        CheckError: C12, C14.
    """
    check_index(ledger, body.j, "server")
    server_link(ledger, body.link)
    return body.link


def draw(ledger: Ledger, body: Draw) -> Ledger:
    """Take the first dealer.

    Raises:
        CheckError: C12, C14, C15, C16.
    """
    check_index(ledger, body.j, "server")
    _check_complete(ledger)
    # a server that could draw again would do so until the first dealer suits it (threats.md)
    if ledger.match is not None:
        raise CheckError("C16", "a second draw", "server")
    opened = open_link(ledger, SERVER, body.link)
    links = ((SERVER, body.link), *ledger.released)
    first = dealing.first_dealer(ledger.setup.mid, body.j, links, ledger.seats)
    if body.first != first:
        raise CheckError("C16", f"expected first dealer {first}, got {body.first}", "server")
    terms = ledger.setup.terms
    # in mode blind a ruled turn concedes: the server has no card to play for a seat
    rules = terms.rules_as_played if terms.table.mode == BLIND else terms.variant
    match = new_match(rules, seats=ledger.seats, dealer=Seat(first))
    return replace(
        opened, phase=Phase.BETWEEN, deal_index=ledger.deal_index + 1, match=match, call=None, released=()
    )


def _check_complete(ledger: Ledger) -> None:
    if waiting := seats_missing(ledger):
        raise CheckError("C15", f"releases of seats {list(waiting)} are missing", "server")


def take_deal(ledger: Ledger, body: Deal) -> Taken:
    """Take the commitments of a deal; its cards are unknown until somebody learns them.

    Raises:
        CheckError: C12, C15, C16, C17.
    """
    check_index(ledger, body.j, "server")
    match = ledger.match
    if match is None or ledger.call is None:
        raise CheckError("C16", "a hand before the draw", "server")
    _check_complete(ledger)
    if not awaits_deal(match):
        raise CheckError("C17", "no new cards are due", "server")
    if ledger.blind_hand is not None:
        blind_records.check_places(ledger, body)
    # new cards in an open hand go on in its log: the seed and the pack are still those of the one call
    hand = ledger.hand or HandLog(ledger.call, ledger.released, match)
    _check_deal(ledger, hand, body)
    # unknown to the server too, which says with `learn_all` what it knows: one fold serves both (decision 3)
    unknown = ((None,) * body.ncards,) * ledger.seats
    dealt, events = deal(match, unknown, tuple(Card(card) for card in body.up))
    hand = replace(hand, deals=(*hand.deals, body))
    return replace(ledger, phase=Phase.HAND, match=dealt, hand=hand), events


def _check_deal(ledger: Ledger, hand: HandLog, body: Deal) -> None:
    called = hand.call
    if body.d != len(hand.deals):
        raise CheckError("C17", f"expected sub-deal {len(hand.deals)}, got {body.d}", "server")
    # the call came before any link was open; a deal by other values would choose them knowing the seed
    if (body.dealer, body.ncards, body.cut) != (called.dealer, called.ncards, called.cut):
        raise CheckError("C17", f"the deal does not repeat its call: {_call_text(called)}", "server")
    # a redeal turns up nothing new: it goes on behind the card that is turned up already (specification.md 6)
    ups = ledger.setup.terms.variant.turn_count if body.d == 0 else 0
    if len(body.up) != ups or any(card >= ledger.setup.terms.table.deck for card in body.up):
        raise CheckError(
            "C17", f"expected {ups} cards of the pack turned up, got {shorten(body.up)}", "server"
        )
    seats = ledger.seats
    if [*map(len, body.leaves)] != [body.ncards] * seats:
        raise CheckError("C17", f"expected {seats} seats with {body.ncards} leaves each", "server")
    # what is in a box the seat itself checks at once (C18), and everybody at the end (C31)
    boxed = [deal_public(ledger, seat) is not None for seat in range(seats)]
    if [*map(bool, body.boxes)] != boxed:
        raise CheckError(
            "C17", "expected a box for each seat that is dealt to in one, and for no other", "server"
        )


def learn_all(ledger: Ledger, hands: Sequence[Sequence[int]]) -> Ledger:
    """Tell the rules every card of the deal just taken, by seat and slot, so that none of it is ever unknown here."""
    match, hand = know_all(_match(ledger), _by_slot(hands)), ledger.hand
    return replace(ledger, match=match, hand=hand and replace(hand, known=hand.known + 1))


def learn(ledger: Ledger, seat: int, cards: Sequence[int]) -> Ledger:
    """Tell the rules the cards of a seat's newest deal, by slot; raises CardError if another card is known there."""
    return replace(ledger, match=know_all(_match(ledger), _by_slot((cards,), first=seat)))


def _match(ledger: Ledger) -> Match:
    if ledger.match is None:
        raise ValueError("no cards are dealt yet")
    return ledger.match


def _by_slot(hands: Sequence[Sequence[int]], *, first: int = 0) -> list[tuple[Seat, int, Card]]:
    """Return the cards of the seats from `first` on as the rules are told them."""
    return [
        (Seat(seat), slot, Card(card))
        for seat, cards in enumerate(hands, first)
        for slot, card in enumerate(cards)
    ]


def void(ledger: Ledger, body: Void) -> Ledger:
    """Take a deal that does not happen.

    Raises:
        CheckError: C12, C14, C26.
    """
    check_index(ledger, body.j, "server")
    reasons = ("silent", "link", "points") if ledger.blind_hand is not None else ("silent", "link")
    if body.reason not in reasons:
        message = f"expected the reason {' or '.join(reasons)}, got {body.reason!r}"
        raise CheckError("C26", message, "server")
    # in mode blind nothing voids once all locks are on: a step that is owed then is ruled on (blind.md)
    waiting = (
        () if ledger.blind_hand is not None and blind_records.seats_owing(ledger) else seats_missing(ledger)
    )
    if not waiting or body.seats != waiting:
        raise CheckError(
            "C26", f"expected the silent seats {list(waiting)}, got {shorten(body.seats)}", "server"
        )
    opened = server_link(ledger, body.link)
    # links are open that the next deal must not be made from: the index is used up, and each void is counted
    return replace(
        opened,
        phase=Phase.BETWEEN,
        deal_index=ledger.deal_index + 1,
        call=None,
        released=(),
        blind_hand=None,
        voids=ledger.voids + 1,
        silent=waiting,
    )


def rekey(ledger: Ledger, body: Rekey) -> Ledger:
    """Take a new chain of a role.

    Raises:
        CheckError: C7, C27.
    """
    culprit, old = role_name(body.role), ledger.contributors[body.role]
    exhausted = is_exhausted(ledger, body.role)
    if old is None or body.first != ledger.deal_index:
        raise CheckError("C27", f"expected a chain from {ledger.deal_index} of a contributor", culprit)
    if body.role == SERVER:
        # a seat may have lost its secrets; the server must not start a chain when it suits it (threats.md).
        # All boxes of the match are made again from its one secret (C31), so its box key stays
        if not exhausted or body.x is not None:
            raise CheckError(
                "C27", "the server rekeys only when its chain is exhausted, and keeps its box key", culprit
            )
        fresh = _take_commitments(ledger, (("anchor", body.anchor),))
        # `end` has to open every chain of the server, not only the last (C30)
        fresh = replace(fresh, chain=ServerChain(body.first, body.anchor, ledger.chain))
        return with_contributor(
            fresh, SERVER, replace(old, first=body.first, known=(body.first, body.anchor))
        )
    return _rekey_seat(ledger, body, old, exhausted=exhausted)


def _rekey_seat(ledger: Ledger, body: Rekey, old: Contributor, *, exhausted: bool) -> Ledger:
    culprit = role_name(body.role)
    # a chain that has run out is no fault of its seat, and counts nothing against `opts.rekeys`
    count = old.rekeys + (not exhausted)
    if body.x is None or count > ledger.setup.terms.opts.rekeys:
        allowed = ledger.setup.terms.opts.rekeys
        raise CheckError("C27", f"expected a new box key, and at most {allowed} rekeys", culprit)
    check_box_key(body.x, None)
    fresh = _take_commitments(ledger, (("anchor", body.anchor), ("box key", body.x)))
    renewed = Contributor(old.public, body.x, body.first, (body.first, body.anchor), count)
    return with_contributor(fresh, body.role, renewed)


def _take_commitments(ledger: Ledger, new: tuple[tuple[str, bytes], ...]) -> Ledger:
    """Note what nobody may bring again."""
    for name, public in new:
        # another may have been shown it, and have brought its copy first: nobody is to blame (decision 10)
        if (name, public) in ledger.commitments:
            raise CheckError("C7", f"expected a new {name}, got one used before")
    return replace(ledger, commitments=ledger.commitments | new)


def substitute(ledger: Ledger, body: Sub) -> Ledger:
    """Take a newcomer for a seat that is gone.

    Raises:
        CheckError: C7, C28.
    """
    # no check of a newcomer's record blames anybody: any key can sign one (decision 10)
    if body.first != ledger.deal_index:
        raise CheckError("C28", f"expected a chain from {ledger.deal_index}, got one from {body.first}")
    if ledger.setup.terms.opts.gone != GONE_SUBSTITUTE or not is_gone(ledger, body.seat):
        raise CheckError("C28", f"seat {body.seat} is not open to a substitute")
    if not is_utf8(body.name):
        raise CheckError("C28", "name: expected UTF-8")
    check_box_key(body.x, None)
    fresh = _take_commitments(ledger, commitments(body))
    newcomer = Contributor(body.pk, body.x, body.first, (body.first, body.anchor))
    # whoever sits down is not gone for what the seat's former player missed; their rekeys count anew, too
    streaks = (*ledger.streaks[: body.seat], 0, *ledger.streaks[body.seat + 1 :])
    silent = tuple(seat for seat in ledger.silent if seat != body.seat)
    return replace(with_contributor(fresh, body.seat + 1, newcomer), streaks=streaks, silent=silent)
