"""Forging: records changed and signed again with every key the forger holds, and the check that refuses them."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from protocol.peers import Table, here

from protocol import edwards
from truc_protocol.audit import AuditError, Auditor, Refutation
from truc_protocol.bodies import Deal, Open, Proxy
from truc_protocol.crypto.curve import ORDER
from truc_protocol.crypto.keys import SigningKey
from truc_protocol.dealing import DealtCards, Opening
from truc_protocol.records import KIND_OF, Record, encode, parse, signer_of
from truc_protocol.setup import Opts
from truc_rules import Variant, deciders, preset, with_options

SERVER = "server"
BASE = bytes.fromhex("58" + "66" * 31)
"""B, the base point of Ed25519."""


def refutation(auditor: Auditor, record: Record) -> Refutation:
    with pytest.raises(AuditError) as caught:
        auditor.feed(record)
    return caught.value.refutation


def resigned(table: Table, body: Any) -> Record:
    """Sign a body by whoever must sign its kind; a proxy by nobody."""
    encoded, role = encode(body), signer_of(body)
    return signed_bytes(table, role, encoded) if not isinstance(body, Proxy) else Record(0, encoded, b"")


def signed_bytes(table: Table, role: int, body: bytes) -> Record:
    key = table.players[role - 1].key if role - 1 in table.players else table.server
    return Record(role, body, key.sign(body))


def altered(table: Table, record: Record, **fields: Any) -> Record:
    """Change fields of a record and sign it again."""
    return resigned(table, msgspec.structs.replace(parse(record), **fields))


def next_altered(kind: type, table: Table | None = None, **fields: Any) -> tuple[Table, Record]:
    """Change the next honest record of a kind and sign it again; a field may be a function of its honest body."""
    table = table or Table()
    record = until(table, kind)
    changes = {name: value(parse(record)) if callable(value) else value for name, value in fields.items()}
    return table, altered(table, record, **changes)


def garbled(table: Table | None = None) -> tuple[Table, Record]:
    """Change the next deal so that the box of seat 0 does not open."""
    return next_altered(Deal, table, boxes=lambda deal: (deal.boxes[0][::-1], *deal.boxes[1:]))


def place(table: Table, body: Any) -> Any:
    """Bind a body to the next position."""
    parallel = KIND_OF[type(body)].binding == "Q"
    k, head = table.ledger.parallel if parallel else (table.ledger.k, table.ledger.head)
    return msgspec.structs.replace(body, mid=table.setup.mid, k=k, head=head)


def until(table: Table, kind: type, *, when: Callable[[Any], bool] = lambda _body: True) -> Record:
    """Play until the next honest record is of a kind, and one that is meant; return it without adding it."""
    while True:
        record = table.next_record()
        assert record is not None
        body = parse(record)
        if isinstance(body, kind) and when(body):
            return record
        table.add(record)


def voided(*silent: int, seats: int = 2, index: int = 1, **opts: int) -> Table:
    """A match in which a void has just named seats, seat 0 if none is given."""
    name = "truc-french" if seats == 2 else "truc-catalan"
    table = Table(name, seats=seats, opts=Opts(**opts)).to("called", index=index)
    table.silent = frozenset(silent or {0})
    return table.run(until=lambda ledger: ledger.phase == "between")


def small(name: str = "truc-french", **options: Any) -> Variant:
    """Return a preset that is over soon."""
    return with_options(preset(name), {"target": 2, "match": 1, **options})


def cheat(table: Table, change: Callable[[DealtCards], DealtCards]) -> None:
    """Make the dealer deal other cards than the shuffle gives, in the deal that is due now."""
    ledger = table.ledger
    d = len(ledger.hand.deals) if ledger.hand else 0
    cards = table.dealer._cards(ledger, d + 1)
    table.dealer._shuffled = table.dealer._shuffled._replace(deals=(*cards[:d], change(cards[d])))


def with_card(cards: DealtCards, seat: int, slot: int, opening: Opening) -> DealtCards:
    """Return the deal with one opening replaced."""
    hand = (*cards.hands[seat][:slot], opening, *cards.hands[seat][slot + 1 :])
    return cards._replace(hands=(*cards.hands[:seat], hand, *cards.hands[seat + 1 :]))


def undealt_card(table: Table, cards: DealtCards) -> int:
    """Return a card that nobody was dealt."""
    held = {opening.card for hand in cards.hands for opening in hand}
    return next(card for card in range(table.terms.table.deck) if card not in held)


def standing(**options) -> Table:
    """A hand of French in which eldest has stood and must play; it is seat `turn(table)`."""
    table = Table(**options).to("hand")
    table.play("stand")
    return table


def turn(table: Table) -> int:
    """Return the seat that decides now."""
    return deciders(table.ledger.match)[0]


def opening(table: Table, seat: int, slot: int) -> tuple:
    """Return [slot, card, salt] of a card in the newest deal."""
    return (slot, *table.dealer.openings(table.ledger, seat)[slot])


def open_record(table: Table, seat: int, *slots: int) -> Record:
    """Let the server open cards of the newest deal, owed or not."""
    ledger = table.ledger
    d = len(ledger.hand.deals) - 1
    openings = tuple(opening(table, seat, slot) for slot in slots)
    return table.sign(Open(*here(ledger), ledger.deal_index, d, seat, openings))


def signed_again(key: SigningKey, body: bytes) -> bytes:
    """Sign validly, but with another nonce: not the signature that the library makes."""
    expanded = hashlib.sha512(key.seed()).digest()
    scalar = int.from_bytes(expanded[:32], "little") & ((1 << 254) - 8) | 1 << 254
    nonce = _number(expanded[32:] + b"another" + body)
    point = edwards.encode(edwards.multiply(nonce, _point(BASE)))
    s = (nonce + _number(point + key.public + body) * scalar) % ORDER
    return point + s.to_bytes(32, "little")


def passes_with_cofactor(public: bytes, body: bytes, sig: bytes) -> bool:
    """Tell whether 8 S B = 8 R + 8 h A."""
    s = int.from_bytes(sig[32:], "little")
    left = edwards.multiply(8 * s, _point(BASE))
    hashed = edwards.multiply(_number(sig[:32] + public + body), _point(public))
    return edwards.encode(left) == edwards.encode(edwards.multiply(8, edwards.add(_point(sig[:32]), hashed)))


def _number(hashed: bytes) -> int:
    return int.from_bytes(hashlib.sha512(hashed).digest(), "little") % ORDER


def _point(encoded: bytes) -> edwards.Point:
    point = edwards.decode(encoded)
    assert point is not None
    return point
