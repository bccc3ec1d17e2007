"""The setup of a match: the server's terms, the seats, and the record that closes the set.

`open_terms`, `check_seat` and `close_setup` are used by the server as it gathers the records, by the client before it
signs, and by the auditor; each takes the records as sent and returns what they say once everything has been checked.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final, NamedTuple

from truc_protocol.bodies import Guest, MatchStart, SeatTaken, Sub, TableTerms
from truc_protocol.checks import CheckError, role_name
from truc_protocol.codec import sha256
from truc_protocol.crypto import keys
from truc_protocol.crypto.chains import MAX_LINKS
from truc_protocol.documents import read_document
from truc_protocol.records import BLIND, DEALT, PHASES, Record, body_hash, parse, tag_of
from truc_rules import Variant

MAX_REKEYS: Final = 100
TERMS_REMEMBERED: Final = 64  # rows of numbers, which most tables of a server share


class Opts(NamedTuple):
    """The table's terms in numbers; what a table record leaves out takes the default here.

    Attributes:
        decision_ms: time for a decision, 0 none.
        bank_ms: extra time of a seat for a game.
        release_ms: time to release or rekey, and to sign a seat record.
        voids: deals that may be voided in the match.
        gone: what happens to a seat that is gone: 0 forfeit, 1 substitute, 2 wait.
        guests: guests admitted at most.
        rekeys: new chains of a seat, exhaustion not counted.
        pause_ms: the longest pause.
        spectators: 0 none, 1 live, 2 after the close of each hand, 3 + s: s seconds late.
        gone_after: `move` rulings in a row after which a seat is gone, 0 never.
    """

    decision_ms: int = 30_000
    bank_ms: int = 120_000
    release_ms: int = 60_000
    voids: int = 1
    gone: int = 0
    guests: int = 0
    rekeys: int = 3
    pause_ms: int = 600_000
    spectators: int = 1
    gone_after: int = 3


GONE_FORFEIT, GONE_SUBSTITUTE, GONE_WAIT = 0, 1, 2
MAX_DELAY_S: Final = 3_600
# No time to decide would leave every move to the server's rulings, in a match that is proven all the same.
LEAST_DECISION_MS: Final = 1_000
_DAY_MS: Final = 86_400_000
# C5 bounds `gone`, `guests` and `rekeys`. Of the others a verifier takes every value of the format; these are
# what servers of this project offer.
TERM_RANGES: Final[Mapping[str, range]] = {
    "decision_ms": range(LEAST_DECISION_MS, _DAY_MS + 1),
    "bank_ms": range(_DAY_MS + 1),
    "release_ms": range(1_000, _DAY_MS + 1),
    "voids": range(101),
    "gone": range(3),
    "guests": range(17),
    "rekeys": range(MAX_REKEYS + 1),
    "pause_ms": range(_DAY_MS + 1),
    "spectators": range(3 + MAX_DELAY_S + 1),
    "gone_after": range(101),
}
"""What each of the terms may be set to at some table; those of _OR_NONE may be 0 too."""
_OR_NONE: Final = ("decision_ms",)


def why_no_term(name: str, value: object, seats: int) -> str | None:
    """Return why a term cannot be set to a value at a table of `seats`; None if it can."""
    allowed = range(seats + 1) if name == "guests" else TERM_RANGES[name]
    has_none = name in _OR_NONE
    # `True` is an int to Python
    if type(value) is int and (value in allowed or (has_none and value == 0)):
        return None
    return (
        f"{name}: expected {'0 or ' if has_none else ''}{allowed.start} to {allowed.stop - 1}, got {value!r}"
    )


class MatchTerms(NamedTuple):
    """A table record and its rule document, checked; `th` is the hash that everything later binds to."""

    document: bytes
    record: Record
    table: TableTerms
    variant: Variant
    opts: Opts
    th: bytes

    @property
    def rules_as_played(self) -> Variant:
        """The rules as they are played: in mode blind, where the server has no card to play for a seat, a ruled turn concedes."""
        return _conceding(self.variant) if self.table.mode == BLIND else self.variant


@lru_cache(TERMS_REMEMBERED)
def _conceding(variant: Variant) -> Variant:
    return replace(variant, absent="concede")


class MatchSetup(NamedTuple):
    """A closed setup: who sits where under which terms. `mid` names the match from here on."""

    terms: MatchTerms
    seats: tuple[SeatTaken | Guest, ...]
    records: tuple[Record, ...]
    mid: bytes

    @property
    def level(self) -> str:
        """The assurance level: A every seat keyed, B some guests, C none keyed."""
        keyed = sum(isinstance(seat, SeatTaken) for seat in self.seats)
        return "A" if keyed == len(self.seats) else "B" if keyed else "C"


def check_signature(public: bytes, record: Record) -> None:
    """Check a record's signature; a failure shows nothing about the signer it names.

    Raises:
        CheckError: C3.
    """
    if not keys.verify(public, record.body, record.sig):
        message = f"the signature of {role_name(record.signer)} does not fit the body and the key in force"
        raise CheckError("C3", message)


def open_terms(document: bytes, record: Record) -> MatchTerms:
    """Check a table record against its rule document.

    Raises:
        CheckError: C1 to C5, C7, C11.
    """
    table = parse(record)
    if not isinstance(table, TableTerms):
        raise CheckError("C11", f"expected a table record, got {tag_of(table)}")
    # in the order of specification.md 11, because the first check that fails is the one named. The key comes
    # before the signature, which proves nothing under a weak key
    check_key(table.spk)
    check_signature(table.spk, record)
    terms = own_terms(document, record, table)
    check_box_key(table.x, "server")
    return terms


def own_terms(document: bytes, record: Record, table: TableTerms) -> MatchTerms:
    """Check what a table record says that we have just signed ourselves; its keys and signature are not checked.

    Raises:
        CheckError: C5.
    """
    # first, because a document that does not belong to the record blames nobody (specification.md 11)
    if sha256(document) != table.rules:
        raise CheckError("C5", "the rule document is not the one whose hash the table record signs")
    variant = read_document(document)
    _check_table(table, variant)
    return MatchTerms(document, record, table, variant, read_opts(table.opts), body_hash(record))


@lru_cache(TERMS_REMEMBERED)
def read_opts(numbers: tuple[int, ...]) -> Opts:
    """Return the terms that a row of numbers gives; missing ones take the default, any beyond the tenth are ignored."""
    # a newer server's notice may have more than ten; in a table record that fails C5
    return Opts(*numbers[: len(Opts._fields)])


def _check_table(table: TableTerms, variant: Variant) -> None:
    pack, opts = len(variant.pack), read_opts(table.opts)
    _expect(table.deck == pack, f"deck: expected the pack's {pack} cards, got {table.deck}")
    _expect(table.seats in variant.players, f"seats: expected one of {variant.players}, got {table.seats}")
    _expect(1 <= table.links <= MAX_LINKS, f"links: expected 1 to {MAX_LINKS}, got {table.links}")
    _expect(table.mode in PHASES, f"mode: expected {DEALT!r} or {BLIND!r}, got {table.mode!r}")
    _expect(
        table.policy == variant.reveal,
        f"policy: expected the rules' {variant.reveal!r}, got {table.policy!r}",
    )
    _expect(
        len(table.opts) <= len(Opts._fields),
        f"opts: expected at most {len(Opts._fields)}, got {len(table.opts)}",
    )
    _expect(opts.gone <= GONE_WAIT, f"opts 4: expected 0, 1 or 2, got {opts.gone}")
    _expect(opts.guests <= table.seats, f"opts 5: expected at most {table.seats} guests, got {opts.guests}")
    _expect(opts.rekeys <= MAX_REKEYS, f"opts 6: expected at most {MAX_REKEYS} rekeys, got {opts.rekeys}")
    _expect(is_utf8(table.name), "name: expected UTF-8")
    if table.mode == BLIND and (hindrance := blind_hindrance(variant, opts.guests)):
        _expect(False, f"mode blind: {hindrance}")


def blind_hindrance(variant: Variant, guests: int) -> str | None:
    """Say why a game cannot be played in mode blind with so many guests admitted; None if it can.

    Whether a hand goes on may hang on no card that nobody knows, and each hand is opened when it is over.
    """
    signals = variant.signals
    if variant.flor is not None:
        return "expected a game without a flor, which scores by being held"
    if variant.reveal != "hand":
        return "expected reveal = hand, as a cheat is found when a hand is opened"
    if signals is not None and signals.truth != "free":
        return "expected signs that may be false, as nobody can tell that they are true"
    return "expected no guests, who have no secrets to shuffle with" if guests else None


def _expect(holds: bool, message: str) -> None:
    if not holds:
        raise CheckError("C5", message, "server")


def is_utf8(name: bytes) -> bool:
    """Tell whether a name is UTF-8, as names of people and servers are."""
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def check_key(public: bytes) -> None:
    """Check that an Ed25519 key may be used; a signature under any other does not show who made it.

    Raises:
        CheckError: C4.
    """
    if not keys.is_admissible(public):
        raise CheckError("C4", f"the key {public.hex()} is not admissible")


def check_box_key(public: bytes, culprit: str | None) -> None:
    """Check that an X25519 key may be used.

    Raises:
        CheckError: C7.
    """
    if not keys.is_admissible_box_key(public):
        raise CheckError("C7", f"the X25519 key {public.hex()} is not admissible", culprit)


def check_seat(terms: MatchTerms, record: Record) -> SeatTaken | Guest:
    """Check one seat or guest record by itself, signature included.

    Raises:
        CheckError: C1 to C4, C6, C7, C11.
    """
    seat = read_seat(terms, record)
    _check_box_key_of(seat)
    return seat


def read_seat(terms: MatchTerms, record: Record) -> SeatTaken | Guest:
    """Check one seat or guest record by itself, except for its box key, which `check_seats` checks last.

    Raises:
        CheckError: C1 to C4, C6, C11.
    """
    # in the order of specification.md 11: C1, C2, C11, C4, C3, C6; C7 is left to check_seats
    seat = parse(record)
    match seat:
        case SeatTaken():
            check_key(seat.pk)
            check_signature(seat.pk, record)
        # guests have no secrets to shuffle with, so mode blind has none
        case Guest() if terms.table.mode != BLIND:
            check_signature(terms.table.spk, record)
        case _:
            raise CheckError("C11", f"expected a seat or guest record, got {tag_of(seat)}")
    if seat.th != terms.th:
        raise CheckError("C6", "the record joins another table record than this one")
    if seat.seat >= terms.table.seats or not is_utf8(seat.name):
        message = f"expected a seat below {terms.table.seats} and a UTF-8 name, got seat {seat.seat}"
        raise CheckError("C6", message, _author(seat))
    return seat


def _check_box_key_of(seat: SeatTaken | Guest) -> None:
    if seat.x is not None:
        check_box_key(seat.x, _author(seat))


def _author(seat: SeatTaken | Guest) -> str | None:
    """Return who has certainly signed: the server a guest's record, but nobody a seat's, for which anybody can make a key."""
    return "server" if isinstance(seat, Guest) else None


def check_seats(terms: MatchTerms, seats: tuple[SeatTaken | Guest, ...]) -> None:
    """Check the seats against each other; `seats` may be the first few of them.

    Raises:
        CheckError: C6 order or number of guests, C7 a key, anchor or box key used twice, or a box key not sound.
    """
    for index, seat in enumerate(seats):
        if seat.seat != index:
            raise CheckError("C6", f"expected the record of seat {index}, got that of seat {seat.seat}")
    guests = sum(isinstance(seat, Guest) for seat in seats)
    if guests > terms.opts.guests:
        raise CheckError("C6", f"expected at most {terms.opts.guests} guests, got {guests}", "server")
    _check_commitments(terms.table, seats)


def _check_commitments(table: TableTerms, seats: tuple[SeatTaken | Guest, ...]) -> None:
    servers = {("key", table.spk), ("anchor", table.anchor), ("box key", table.x)}
    used = set(servers)
    for seat in seats:
        _check_box_key_of(seat)
        for item in commitments(seat):
            if item in used:
                # only what the table record showed was certainly there first
                culprit = _author(seat) if item in servers else None
                raise CheckError("C7", f"expected its own {item[0]}, got one used before", culprit)
            used.add(item)


def commitments(seat: SeatTaken | Guest | Sub) -> tuple[tuple[str, bytes], ...]:
    """Return what a seat brings that no other may share: its key, anchor and box key, each with its name."""
    match seat:
        case SeatTaken() | Sub():
            # with names, because keys must differ from keys and anchors from anchors, but not across (C7)
            return ("key", seat.pk), ("anchor", seat.anchor), ("box key", seat.x)
        case Guest():
            return () if seat.x is None else (("box key", seat.x),)


def close_setup(terms: MatchTerms, seats: tuple[Record, ...], start: Record) -> MatchSetup:
    """Check the closed set of seats.

    Raises:
        CheckError: C1 to C4, C6 to C8, C11.
    """
    taken = tuple(read_seat(terms, record) for record in seats)
    check_seats(terms, taken)
    if len(taken) != terms.table.seats:
        raise CheckError("C6", f"expected {terms.table.seats} seats, got {len(taken)}")
    body = parse(start)
    if not isinstance(body, MatchStart):
        raise CheckError("C11", f"expected the match record, got {tag_of(body)}")
    check_signature(terms.table.spk, start)
    if body.th != terms.th or body.seats != tuple(body_hash(record) for record in seats):
        raise CheckError("C8", "the match record does not list this table and these seats")
    return MatchSetup(terms, taken, (terms.record, *seats, start), body_hash(start))
