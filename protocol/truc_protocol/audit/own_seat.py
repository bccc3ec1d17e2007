"""What one seat can check at once: its own sealed cards, and what its partners show it."""

from collections.abc import Mapping
from typing import NamedTuple

from truc_protocol import boxes, dealing
from truc_protocol.blind_mode.sealed_pack import LendStep, turned_up
from truc_protocol.blind_mode.seat_steps import CardWithKeys, GarbledError, read_hand, read_lend
from truc_protocol.bodies import Deal, Lend, Share
from truc_protocol.checks import CheckError
from truc_protocol.crypto.chains import Chain
from truc_protocol.crypto.keys import BoxKey
from truc_protocol.dealing import Opening
from truc_protocol.ledger import Ledger, box_public, deal_public, learn
from truc_protocol.own_steps import secrets_of
from truc_rules import CardError

_SERVER = "server"
Opened = tuple[Ledger, tuple[Opening, ...]]
BoxKeys = Mapping[bytes, BoxKey]
"""A seat's X25519 keys of a match, by public key: the one of its seat record, and those it rekeyed to."""


class OwnSeat(NamedTuple):
    """The seat whose private cards an auditor can open, with its X25519 key of this match; in mode blind its chain too."""

    seat: int
    x: BoxKey
    chain: Chain | None = None


def _shared_secret(ledger: Ledger, seat: int, own: BoxKeys) -> bytes | None:
    """Return the secret shared with the server, or None if the seat's key in force is not ours."""
    public = box_public(ledger, seat)
    key = None if public is None else own.get(public)
    return None if key is None else key.exchange(ledger.setup.terms.table.x)


def open_deal(ledger: Ledger, body: Deal, seat: int, own: BoxKeys) -> Opened:
    """Open the own box of a deal and tell the ledger the cards; do neither if there is no box, or the seat's key is not ours.

    Raises:
        CheckError: C18; the culprit is the server.
    """
    # a box for a key whose secret is lost stays shut: that is no failure (specification.md 13)
    shared = _shared_secret(ledger, seat, own)
    if shared is None or deal_public(ledger, seat) is None:
        return ledger, ()
    hand = read_deal(shared, body, seat)
    return _learn_opened(ledger, seat, hand), hand


def open_share(ledger: Ledger, body: Share, own: BoxKeys) -> Opened:
    """Open a partner's cards of the newest deal and tell the ledger; do neither if the receiver's key is not ours.

    Raises:
        CheckError: C18; the culprit is the server.
    """
    shared = _shared_secret(ledger, body.receiver, own)
    if shared is None or ledger.hand is None:
        return ledger, ()
    hand = read_share(shared, ledger.hand.deals[-1], body)
    return _learn_opened(ledger, body.giver, hand), hand


def read_deal(shared: bytes, deal: Deal, seat: int) -> tuple[Opening, ...]:
    """Open the box of a seat in a deal; its cards hash to the seat's leaves, whatever else they are.

    Raises:
        CheckError: C18; the culprit is the server.
    """
    try:
        hand = boxes.open_hand(shared, deal.mid, j=deal.j, d=deal.d, seat=seat, box=deal.boxes[seat])
    except boxes.BoxError as error:
        raise CheckError("C18", f"the box of seat {seat} does not open: {error}", _SERVER) from error
    return _fitting(deal, seat, hand)


def read_share(shared: bytes, deal: Deal, share: Share) -> tuple[Opening, ...]:
    """Open the box of a share of this deal, as `read_deal` does.

    Raises:
        CheckError: C18; the culprit is the server.
    """
    place = {"j": share.j, "d": share.d, "giver": share.giver, "receiver": share.receiver}
    try:
        hand = boxes.open_share(shared, share.mid, box=share.box, **place)
    except boxes.BoxError as error:
        message = f"the share for seat {share.receiver} does not open: {error}"
        raise CheckError("C18", message, _SERVER) from error
    return _fitting(deal, share.giver, hand)


def _fitting(deal: Deal, seat: int, hand: tuple[Opening, ...]) -> tuple[Opening, ...]:
    leaves = tuple(
        dealing.leaf(deal.mid, j=deal.j, d=deal.d, seat=seat, slot=slot, opening=opening)
        for slot, opening in enumerate(hand)
    )
    if leaves != deal.leaves[seat]:
        raise CheckError("C18", f"the cards in the box of seat {seat} do not hash to its leaves", _SERVER)
    return hand


def _learn_opened(ledger: Ledger, seat: int, hand: tuple[Opening, ...]) -> Ledger:
    try:
        return learn(ledger, seat, tuple(opening.card for opening in hand))
    except CardError as error:
        raise CheckError("C18", f"the cards in the box of seat {seat}: {error}", _SERVER) from error


def read_sealed(ledger: Ledger, own: OwnSeat) -> tuple[CardWithKeys, ...] | None:
    """Return the own cards of the newest sub-deal of mode blind, once all keys are in; none in a hand played blind.

    None if the keys open no hand of cards.
    """
    if ledger.blind_hand is None or own.chain is None:
        return ()
    pack = ledger.blind_hand.pack
    if pack.plan.unseen:
        return None if None in turned_up(pack) else ()
    try:
        return read_hand(pack, secrets_of(ledger, own.chain), own.seat, own.x)
    except (CheckError, GarbledError):
        # no failed check: what only this seat sees convicts nobody, and the links will show whose doing it is
        return None


def read_lent(ledger: Ledger, body: Lend, own: OwnSeat) -> tuple[CardWithKeys, ...] | None:
    """Return a partner's cards that were lent to the own seat; None if what came does not open its places."""
    if ledger.blind_hand is None:
        return ()
    lend = LendStep(body.d, body.seat, body.receiver, body.box)
    try:
        return read_lend(ledger.blind_hand.pack, lend, own.x)
    except CheckError:
        return None
