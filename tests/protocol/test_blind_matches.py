"""Whole matches of mode blind: what is proven of them, what follows silence and cheats, and every record out of place."""

import json
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from typing import NamedTuple

import msgspec
import pytest
from protocol.blind_peers import BlindTable, known
from protocol.forge import place, resigned, until
from protocol.peers import Table, audit, here
from protocol.sealed_deals import replaced
from rows import each_row
from vectors.blind_matches import FOLDER, MATCHES, other_order, shut_boxes

from truc_conform.playing import Puppet
from truc_protocol.audit import AuditError, Auditor, Result, verify
from truc_protocol.audit.equivocation import compare
from truc_protocol.audit.own import Accepted
from truc_protocol.blind_mode.points import BASE, ORDER, scalar, times
from truc_protocol.blind_mode.sealed_pack import LockStep, MaskStep, find_card, turned_up
from truc_protocol.bodies import (
    Act,
    Call,
    Close,
    Deal,
    Draw,
    Garbled,
    Guest,
    Keys,
    Lend,
    Lock,
    Mask,
    Open,
    Proxy,
    Release,
    Share,
    Void,
)
from truc_protocol.documents import rule_document
from truc_protocol.ledger import Due, Exposed, due, find_shown, fold, start
from truc_protocol.records import (
    BLIND,
    PHASES,
    Phase,
    Record,
    encode,
    parse,
)
from truc_protocol.setup import Opts, blind_hindrance
from truc_protocol.transcript import Transcript, pack_record, read_transcript, unpack_record, write_transcript
from truc_rules import CardError, Kind, Variant, deciders, presets, with_options
from truc_rules import preset as preset_of

SHORT = {"target": 3, "match": 1}


def french(seed: int = 1, *, seats: int = 2, opts: Opts | None = None, **table) -> BlindTable:
    variant = with_options(preset_of("truc-french"), SHORT)
    return BlindTable(variant, seats=seats, seed=seed, opts=opts, **table)


def catalan(seed: int = 1, *, opts: Opts | None = None, **table) -> BlindTable:
    return BlindTable(
        with_options(preset_of("truc-catalan"), {"target": 5}), seats=4, seed=seed, opts=opts, **table
    )


def paulista(seed: int = 1, **options) -> BlindTable:
    variant = with_options(preset_of("truco-paulista"), {"target": 4, **options})
    return BlindTable(variant, seats=2, seed=seed)


def mineiro() -> BlindTable:
    return BlindTable(with_options(preset_of("truco-mineiro-2"), {"target": 5}), seats=4)


def kinds(table: BlindTable) -> Counter:
    return Counter(type(parse(record)).__name__ for record in table.records)


def signed(table: BlindTable, body) -> Record:
    """Sign a body by whoever must, in its place."""
    return resigned(table, place(table, body))


def changed(table: BlindTable, record: Record, **fields) -> Record:
    return signed(table, msgspec.structs.replace(parse(record), **fields))


class Seen(NamedTuple):
    """A record that was refused behind others."""

    document: bytes
    records: tuple[Record, ...]
    record: Record
    at: int | None
    setup: int | None
    check: str
    culprit: str | None

    @property
    def item(self) -> tuple[int, str]:
        """What tells it from others: how many records stand before it, and its own bytes."""
        return len(self.records), pack_record(self.record).hex()


ROWS = (
    "test_masks_that_are_not_due_or_hold_other_points",
    "test_locks_that_are_not_due_or_hold_another_nonce",
    "test_keys_that_do_not_fit_and_what_nothing_voids_any_more",
    "test_deal_that_is_not_of_the_places_as_they_are_locked",
    "test_plays_that_open_another_card",
    "test_salt_in_a_blind_deal_and_keys_in_a_dealt_one_are_no_shape",
    "test_hand_is_not_closed_nor_called_again_before_every_link_of_it_is_open",
    "test_call_with_the_role_of_the_server_and_a_second_draw",
    "test_false_claim_that_a_hand_is_garbled_exposes_its_claimant",
    "test_lends_are_owed_right_after_the_deal_and_in_their_order",
    "test_server_rules_no_card_but_a_concession",
    "test_card_that_garbles_a_hand_is_a_decision_of_its_seat",
    "test_terms_that_the_mode_excludes_are_refused",
    "test_nobody_takes_the_place_of_a_seat_that_owes_keys_or_a_link",
    "test_no_hand_is_garbled_where_keys_are_still_to_come",
)
"""The tests whose refused records are kept in `blind/tampered.json`."""
KEPT: dict[tuple[int, str], tuple[str, str | None]] = {
    (test["keep"], test["then"][0]): (test["check"], test["culprit"])
    for group in json.loads((FOLDER / "tampered.json").read_text(encoding="utf-8"))["testGroups"]
    for test in group["tests"]
}
SEEN: list[Seen] = []


def refusal(table: "BlindTable | Listed", record: Record) -> tuple[str, str | None]:
    """What a stranger with the file says of a record behind those of a table; it is kept among the vectors."""
    auditor = audit(table.document, table.records)
    with pytest.raises(AuditError) as caught:
        auditor.feed(record)
    found = caught.value.refutation
    file = verify(write_transcript(table.document, [*table.records, record]))
    assert (file.result, file.refutation) == (Result.REFUTED, found)
    place = found.k, found.in_setup
    seen = Seen(table.document, tuple(table.records), record, *place, found.check, found.culprit)
    SEEN.append(seen)
    assert KEPT.get(seen.item, (found.check, found.culprit)) == (found.check, found.culprit)
    return found.check, found.culprit


def expected(table: "BlindTable | Listed", check: str, culprit: str | None, *records: Record) -> None:
    assert [refusal(table, record) for record in records] == [(check, culprit)] * len(records)


FILES = {name: (FOLDER / name).read_bytes() for name in MATCHES}
COMES_TO = {
    # result, reason, whether a ruling decided it, whether the server is shown to have seen no card
    "french-redeals.truc": ("proven", "won", False, True),
    "mineiro-4-lends.truc": ("proven", "resigned", False, True),
    "argentino-6.truc": ("proven", "resigned", False, True),
    "paulista-unseen.truc": ("proven", "won", False, True),
    "french-exposed.truc": ("proven", "forfeit", False, False),
    "french-unopened.truc": ("proven", "forfeit", True, False),
    "french-garbled.truc": ("proven", "forfeit", False, False),
    "catalan-4-newcomer.truc": ("proven", "won", False, True),
}


@each_row("name", MATCHES)
def test_script_makes_the_transcript_byte_for_byte_and_it_comes_to_its_verdict(name):
    assert MATCHES[name]().file() == FILES[name]
    verdict = verify(FILES[name])
    told = (verdict.result, verdict.reason, verdict.by_ruling, verdict.host_saw_no_card)
    assert told == COMES_TO[name]
    assert bool(verdict.unopened) == (name == "french-unopened.truc")


@each_row("name", MATCHES)
def test_reader_knows_no_card_before_it_is_played(name):
    transcript = read_transcript(FILES[name])
    auditor = Auditor(transcript.document)
    for record in transcript.records:
        auditor.feed(record)
        ledger = auditor.ledger
        if (
            ledger is not None
            and ledger.hand is not None
            and ledger.match.hand.dealt
            and not ledger.hand.is_known
        ):
            played = [used for used in ledger.hand.used if used[0] == len(ledger.hand.deals) - 1]
            assert len(known(ledger)) == len(played)


def test_kept_transcripts_hold_every_kind_of_record_of_the_mode():
    bodies = [parse(record) for file in FILES.values() for record in read_transcript(file).records]
    held = {type(body) for body in bodies}
    expected_kinds = {body for body, phases in PHASES[BLIND].items() if phases}
    assert expected_kinds == held
    assert any(isinstance(body, Lock) and body.d for body in bodies)
    assert [body.kind for body in bodies if isinstance(body, Act)].count("blind") >= 2


def test_bit_flipped_in_a_record_is_refused_at_that_record():
    transcript = read_transcript(FILES["french-exposed.truc"])
    for at, record in enumerate(transcript.records):
        flipped = bytearray(record.body)
        flipped[(at * 37) % len(flipped)] ^= 1 << at % 8
        changed_list = [
            *transcript.records[:at],
            record._replace(body=bytes(flipped)),
            *transcript.records[at + 1 :],
        ]
        verdict = verify(write_transcript(transcript.document, changed_list))
        assert verdict.result is Result.REFUTED
        failed = verdict.refutation
        assert failed.setup + (failed.k or 0) == at


def test_every_game_that_is_not_excluded_says_why_or_is_taken():
    excluded = {name: why for name in presets() if (why := blind_hindrance(preset_of(name), 0))}
    assert all("flor" in why or "signs" in why or "reveal" in why for why in excluded.values())
    assert len(presets()) - len(excluded) > 20
    assert blind_hindrance(preset_of("truc-french"), 1)


def test_client_refuses_a_table_of_a_mode_it_did_not_agree_to():
    table = french()
    accepted = Accepted(table.server.public, table.terms.th)
    with pytest.raises(AuditError) as caught:
        Auditor(table.document, accepted=accepted).feed(table.records[0])
    assert (caught.value.refutation.check, caught.value.refutation.culprit) == ("C9", "server")
    Auditor(table.document, accepted=accepted._replace(mode="blind")).feed(table.records[0])


# Records out of place, of another shape, or with something else in them.


def deal_of(table: BlindTable) -> Deal:
    """A deal of the open call that holds nothing."""
    call = table.ledger.call
    assert call is not None
    empty = ((bytes(32),) * call.ncards,) * table.ledger.seats
    boxes = (b"",) * table.ledger.seats
    return Deal(*here(table.ledger), call.j, 0, call.dealer, call.ncards, call.cut, (), empty, boxes)


def test_masks_that_are_not_due_or_hold_other_points():
    table = french()
    mask = until(table, Mask, when=lambda body: body.seat == table.ledger.match.dealer)
    points, seat = parse(mask).points, parse(mask).seat
    name = f"seat {seat}"
    expected(table, "C43", name, changed(table, mask, points=points[2:]))
    expected(table, "C43", f"seat {1 - seat}", changed(table, mask, seat=1 - seat))
    expected(table, "C44", name, changed(table, mask, points=replaced(points, {3: bytes(32)})))
    expected(
        table,
        "C45",
        name,
        changed(table, mask, points=replaced(points, {3: points[0]})),
        changed(table, mask, points=replaced(points, {3: BASE})),
    )
    expected(table, "C12", name, changed(table, mask, j=table.ledger.deal_index + 1))
    expected(table, "C15", "server", signed(table, deal_of(table)))
    expected(table, "C26", "server", signed(table, Void(*here(table.ledger), 1, "silent", (1 - seat,), None)))
    expected(table, "C26", "server", signed(table, Void(*here(table.ledger), 1, "tired", (seat,), None)))
    expected(
        table, "C14", "server", signed(table, Void(*here(table.ledger), 1, "points", (seat,), bytes(32)))
    )


def test_locks_that_are_not_due_or_hold_another_nonce():
    table = french()
    lock = until(table, Lock)
    seat = parse(lock).seat
    name = f"seat {seat}"
    expected(
        table,
        "C43",
        name,
        changed(table, lock, nonce=None),
        changed(table, lock, d=1),
        changed(table, lock, commitments=parse(lock).commitments[1:]),
    )
    expected(table, "C43", name, signed(table, Garbled(*here(table.ledger), 1, 1, seat)))
    expected(table, "C48", name, signed(table, Garbled(*here(table.ledger), 1, 0, seat)))


def test_keys_that_do_not_fit_and_what_nothing_voids_any_more():
    table = paulista(seed=3)
    keys = until(table, Keys)
    body, name = parse(keys), f"seat {parse(keys).seat}"
    assert body.opened
    other = scalar("lock", b"another")
    expected(table, "C44", name, changed(table, keys, box=bytes(32)))
    expected(table, "C46", name, changed(table, keys, opened=(times(other).times_base(),)))
    expected(table, "C46", name, changed(table, keys, boxes=(b"", b"")))
    negative = (8 * ORDER - int.from_bytes(body.opened[0], "little")).to_bytes(33, "little")[:32]
    expected(table, "C46", name, changed(table, keys, opened=(negative,)))
    expected(table, "C43", name, changed(table, keys, boxes=()))
    expected(
        table, "C26", "server", signed(table, Void(*here(table.ledger), 1, "silent", (body.seat,), None))
    )
    expected(table, "C15", "server", signed(table, deal_of(table)))
    expected(
        table, "C22", "server", table.rule("forfeit", body.seat, "opening")
    )  # the other side owes its keys too
    table.add(keys)
    expected(table, "C43", name, keys)
    expected(
        table,
        "C22",
        "server",
        table.rule("forfeit", body.seat, "opening"),
        table.rule("forfeit", 1 - body.seat, "cheat"),
    )
    table.add(table.rule("forfeit", 1 - body.seat, "opening"))
    assert table.ledger.outcome == (body.seat % 2, "forfeit")
    verdict = verify(table.run().file())
    assert (verdict.result, verdict.by_ruling) == (Result.PROVEN, True)


def test_deal_that_is_not_of_the_places_as_they_are_locked():
    table = paulista(seed=3)
    deal = until(table, Deal)
    body = parse(deal)
    expected(
        table,
        "C47",
        "server",
        changed(table, deal, up=((body.up[0] + 1) % 40,)),
        changed(table, deal, leaves=body.leaves[::-1]),
    )
    expected(table, "C17", "server", changed(table, deal, boxes=(b"a box", b"")))
    expected(table, "C11", "server", signed(table, Share(*here(table.ledger), 1, 0, 0, 1, b"")))


def test_plays_that_open_another_card():
    table = french()
    play = until(table, Act, when=lambda body: body.kind == "play")
    body = parse(play)
    slot, card, keys, ask = body.args
    name = f"seat {body.seat}"
    negative = (8 * ORDER - int.from_bytes(keys[0], "little")).to_bytes(33, "little")[:32]
    expected(
        table,
        "C19",
        name,
        changed(table, play, args=(slot, (card + 1) % 24, keys, ask)),
        changed(table, play, args=((slot + 1) % 3, card, keys, ask)),
        changed(table, play, args=(slot, card, [negative, *keys[1:]], ask)),
        changed(table, play, args=(slot, card, keys[:1], ask)),
    )
    expected(table, "C2", name, changed(table, play, args=(slot, card, bytes(16), ask)))
    link = table.players[body.seat].chain.link(2)
    early = Release(table.setup.mid, *table.ledger.parallel, 1, body.seat, link)
    expected(table, "C49", name, signed(table, early))
    proxy = Proxy(*here(table.ledger), 1, body.seat, body.kind, body.args)
    assert refusal(table, resigned(table, place(table, proxy))) == ("C11", None)
    opened = Open(*here(table.ledger), 1, 0, body.seat, ((slot, card, bytes(16)),))
    expected(table, "C11", "server", signed(table, opened))


def test_salt_in_a_blind_deal_and_keys_in_a_dealt_one_are_no_shape():
    table = Table(with_options(preset_of("truc-french"), SHORT))
    play = until(table, Act, when=lambda body: body.kind == "play")
    slot, card, _salt, ask = parse(play).args
    expected(
        table, "C2", f"seat {parse(play).seat}", changed(table, play, args=(slot, card, [bytes(32)], ask))
    )
    mask = Mask(*here(table.ledger), 1, 0, ())
    expected(table, "C11", "seat 0", signed(table, mask))


def test_hand_is_not_closed_nor_called_again_before_every_link_of_it_is_open():
    table = french()
    release = until(table, Release, when=lambda body: body.j == 1)
    ledger = table.ledger
    score = ((0, 0, 0), (0, 0, 0))
    expected(table, "C24", "server", signed(table, Close(*here(ledger), 1, None, score, "hand")))
    call = Call(*here(ledger), 2, 0, 3, 0, (1, 2))
    expected(table, "C11", "server", signed(table, call))
    seat = parse(release).seat
    expected(table, "C14", f"seat {seat}", changed(table, release, link=bytes(32)))
    expected(table, "C22", "server", table.rule("forfeit", seat, "opening"))
    expected(table, "C22", "server", table.rule("move", seat, "concede"))
    table.add(release)
    assert refusal(table, changed(table, release, link=bytes(32))) == ("C15", f"seat {seat}")
    assert refusal(table, release) == ("C15", None)
    assert table.add(table.rule("forfeit", 1 - seat, "opening")).outcome == (seat, "forfeit")


def test_terms_that_the_mode_excludes_are_refused():
    """A flor, signs that are true, an opening at the end of the match, and guests, whose records stand nowhere either."""
    for name in ("truco-argentino-flor", "truco-paulista"):
        variant = with_options(preset_of(name), {} if "flor" in name else {"reveal": "match"})
        expected(_empty(variant), "C5", "server", _terms(Table(variant)))
    truthful = next(each for name in presets() if _has_true_signs(each := preset_of(name)))
    expected(_empty(truthful), "C5", "server", _terms(Table(truthful, seats=max(truthful.players))))
    expected(_empty(preset_of("truc-french")), "C5", "server", _terms(Table(guests=(1,))))
    table = french()
    guest = Guest(table.terms.th, 1, None, b"a guest")
    seated = Listed(table.document, tuple(table.records[:2]))
    encoded = encode(guest)
    expected(seated, "C11", None, Record(0, encoded, table.server.sign(encoded)))


class Listed(NamedTuple):
    """Records behind which others are to be refused."""

    document: bytes
    records: tuple[Record, ...]


def _empty(variant: Variant) -> Listed:
    return Listed(rule_document(variant), ())


def _has_true_signs(variant: Variant) -> bool:
    return variant.flor is None and variant.signals is not None and variant.signals.truth != "free"


def _terms(table: Table) -> Record:
    """The terms of a table of mode dealt, for mode blind."""
    encoded = encode(msgspec.structs.replace(parse(table.records[0]), mode=BLIND))
    return Record(0, encoded, table.server.sign(encoded))


def _sub(table: BlindTable, seat: int) -> Record:
    """A newcomer's record for a seat."""
    return Puppet(seat, seed=99, person="new ").sub(table.ledger)


def test_nobody_takes_the_place_of_a_seat_that_owes_keys_or_a_link():
    table = french(opts=Opts(gone=1, gone_after=1))
    for kind in (Keys, Act, Release):
        seat = parse(until(table, kind)).seat
        expected(table, "C11", None, _sub(table, seat))
    table.silent = frozenset({seat})
    table.run(until=lambda ledger: ledger.phase is Phase.OVER)
    assert table.ledger.outcome == (1 - seat, "forfeit")
    expected(table, "C11", None, _sub(table, seat))


def test_call_with_the_role_of_the_server_and_a_second_draw():
    table = french()
    call = until(table, Call, when=lambda body: body.j == 1)
    assert parse(call).roles == (1, 2)
    expected(table, "C13", "server", changed(table, call, roles=(0, 1, 2)), changed(table, call, roles=(1,)))
    table.add(call)
    expected(table, "C15", "server", signed(table, Draw(*here(table.ledger), 1, bytes(32), 0)))


def test_false_claim_that_a_hand_is_garbled_exposes_its_claimant():
    table = french()
    play = until(table, Act)
    seat = parse(play).seat
    table.add(signed(table, Garbled(*here(table.ledger), 1, 0, seat)))
    again = place(table, parse(play))
    expected(table, "C48", None, signed(table, again))
    table.run(until=lambda ledger: ledger.sealed is not None and ledger.sealed.exposed is not None)
    assert table.ledger.sealed.exposed == (seat, "cheat")
    end_exposed(table, seat, "cheat")


def _claim(table: BlindTable, seat: int, d: int) -> Record:
    return signed(table, Garbled(*here(table.ledger), table.ledger.deal_index, d, seat))


def test_no_hand_is_garbled_where_keys_are_still_to_come():
    """After new cards were granted, and after a card was named that nobody has seen, before anybody has done anything for it."""
    table = french()
    seat = parse(until(table, Act)).seat
    table.add(table.act(seat, "redeal"))
    table.add(table.act(1 - seat, "accept"))
    for claimant in range(2):
        expected(table, "C48", f"seat {claimant}", _claim(table, claimant, 1))
        expected(table, "C43", f"seat {claimant}", _claim(table, claimant, 0))
    table = MATCHES["paulista-unseen.truc"]()
    records, table.records = table.records, list(table.setup.records)
    table.ledger = start(table.setup)
    for record in records[len(table.records) :]:
        table.add(record)
        if table.ledger.hand is not None and table.ledger.hand.unseen is not None:
            break
    for claimant in range(2):
        expected(table, "C48", f"seat {claimant}", _claim(table, claimant, 0))


def end_exposed(table: BlindTable, seat: int, kind: str) -> None:
    """After a seat is exposed only its forfeit, or an abandoned match, may stand; it loses, and that is proven."""
    other = "false" if kind == "cheat" else "cheat"
    expected(table, "C52", "server", table.rule("pause"), table.rule("forfeit", 1 - seat, kind))
    expected(
        table, "C22", "server", table.rule("forfeit", seat, other), table.rule("forfeit", seat, "opening")
    )
    abandoned = table.rule("abandon", None, "server")
    given_up = audit(table.document, [*table.records, abandoned])
    assert given_up.ledger.outcome == (None, "abandoned")
    told = given_up.verdict()
    assert (told.exposed, told.by_ruling) == (Exposed(seat, kind), True)
    table.run()
    verdict = verify(table.file())
    assert (verdict.result, verdict.winner, verdict.reason) == (Result.PROVEN, 1 - seat % 2, "forfeit")


def scaled(kind: type):
    def cheat(_table, step):
        if not isinstance(step, kind):
            return step
        number = scalar("lock", b"a number of the cheat's")
        return step._replace(points=replaced(step.points, {1: times(number).times(step.points[1])}))

    return cheat


CHEATS = [(0, scaled(MaskStep)), (1, scaled(LockStep)), (0, shut_boxes)]


@each_row("seat, cheat", CHEATS)
def test_cheat_with_the_pack_is_exposed_by_its_link_and_loses(seat, cheat):
    table = french(cheats={seat: cheat}, seed=4)
    table.run(until=lambda ledger: ledger.sealed is not None and ledger.sealed.exposed is not None)
    assert table.ledger.sealed.exposed == (seat, "cheat")
    end_exposed(table, seat, "cheat")


def said_falsely() -> tuple[BlindTable, int]:
    """A seat says another value than its cards have."""
    for seed in range(1, 40):
        table = BlindTable("truco-argentino", seats=2, seed=seed)
        table.run(until=lambda ledger, table=table: _says(table) or ledger.deal_index > 3)
        if _says(table):
            break
    seat, value = _says(table)
    told = 33 if value != 33 else 32
    table.add(table.act(seat, "points", (told,)))
    return table, seat


def test_false_value_is_found_when_the_hand_is_opened_and_loses():
    table, seat = said_falsely()
    table.run(until=lambda ledger: ledger.sealed is None or ledger.sealed.exposed is not None)
    assert table.ledger.sealed.exposed == (seat, "false")
    end_exposed(table, seat, "false")


def _says(table: BlindTable) -> tuple[int, int] | None:
    if (
        table.ledger.hand is None
        or due(table.ledger) is not Due.PLAYERS
        or table.ledger.phase is not Phase.HAND
    ):
        return None
    sealed = table.ledger.sealed
    if sealed is None or sealed.pack.owing() or sealed.garbled:
        return None
    for seat in range(table.ledger.seats):
        for action in table.actions(seat):
            if action.kind is Kind.POINTS:
                return seat, action.value
    return None


def doubled(table, step):
    """A dealer's mask in which every second card lies there twice."""
    if not isinstance(step, MaskStep) or step.seat != table.ledger.match.dealer:
        return step
    number = scalar("lock", b"a number of the cheat's")
    points = list(step.points)
    for k in range(1, len(points) // 2):
        if k % 2:
            points[2 * k] = times(number + k).times(points[2 * k - 2])
            points[2 * k + 1] = times(number + k).times(points[2 * k - 1])
    return step._replace(points=tuple(points))


def held_twice() -> BlindTable:
    """A card was played that lies open already."""
    return next(table for seed in range(1, 40) if (table := _twice_held(seed, doubled)) is not None)


def test_card_that_two_hands_hold_ends_the_hand_without_blame_of_who_plays_it():
    table = held_twice()
    assert table.ledger.sealed.claimant is None
    dealer = table.ledger.match.dealer
    table.run(until=lambda ledger: ledger.sealed.exposed is not None)
    assert table.ledger.sealed.exposed == (dealer, "cheat")
    end_exposed(table, dealer, "cheat")


def _twice_held(seed: int, cheat) -> BlindTable | None:
    """Play until a seat has to play a card that lies open already, and let it."""
    table = french(seed, cheats={0: cheat, 1: cheat})
    table.run(
        until=lambda ledger: ledger.sealed is not None and (ledger.sealed.garbled or ledger.hand is not None)
    )
    with suppress(CardError):
        table.run(until=lambda ledger: ledger.sealed is None or ledger.sealed.garbled)
        return None
    seat = deciders(table.ledger.match)[0]
    lies = known(table.ledger)
    twice = [(slot, held) for slot, held in enumerate(table.hand(seat)) if held.card in lies]
    unplayed = [each for each in twice if (0, seat, each[0]) not in table.ledger.hand.used]
    if not unplayed or table.ledger.match.hand.offers:
        return None
    ((slot, held), *_) = unplayed
    table.add(table.act(seat, "play", (slot, held.card, held.keys, None)))
    return table


def declined_and_held_twice() -> tuple[BlindTable, int]:
    """A seat whose answer was ruled plays a card that lies open already; return it too."""
    return next(found for seed in range(1, 40) if (found := _declined_and_held_twice(seed)) is not None)


def _declined_and_held_twice(seed: int) -> tuple[BlindTable, int] | None:
    table = french(seed, cheats={0: doubled, 1: doubled}, opts=Opts(gone_after=1))
    table.run(
        until=lambda ledger: ledger.sealed is not None and (ledger.sealed.garbled or ledger.hand is not None)
    )
    if table.ledger.sealed.garbled:
        return None
    (mover,) = deciders(table.ledger.match)
    own, others = (
        {held.card: slot for slot, held in enumerate(table.hand(seat))} for seat in (mover, 1 - mover)
    )
    if (card := min(own.keys() & others.keys(), default=None)) is None:
        return None
    table.add(table.act(mover, "redeal"))
    table.add(table.dealer.move(table.ledger))
    for seat, held in ((mover, own), (1 - mover, others)):
        table.add(table.act(seat, "play", (held[card], card, table.hand(seat)[held[card]].keys, None)))
    return table, 1 - mover


def test_card_that_garbles_a_hand_is_a_decision_of_its_seat():
    table, seat = declined_and_held_twice()
    assert table.ledger.sealed.garbled
    expected(table, "C22", "server", table.rule("forfeit", seat, "absent"))


@each_row("silent, reason", [({0}, "forfeit"), ({1}, "forfeit"), ({0, 1}, "abandoned")])
def test_seat_that_does_not_open_a_hand_that_is_over_loses_and_nobody_wins_where_both_do_not(silent, reason):
    table = french(opts=Opts(gone=2))
    until(table, Release, when=lambda body: body.j == 1)
    table.silent = frozenset(silent)
    table.run()
    verdict = verify(table.file())
    winner = None if len(silent) == 2 else 1 - min(silent)
    assert (verdict.result, verdict.reason, verdict.winner) == (Result.PROVEN, reason, winner)


def opened_late() -> BlindTable:
    """A hand that has won the match is forfeited by its loser, who then opens it all the same."""
    table = french()
    table.run(until=lambda ledger: ledger.match is not None and ledger.match.winner is not None)
    table.silent = frozenset({1 - table.ledger.match.winner})
    table.run(until=lambda ledger: ledger.phase is Phase.OVER)
    table.silent = frozenset()
    return table


def test_match_whose_last_hand_is_opened_late_by_who_forfeited_it_is_closed_all_the_same():
    table = opened_late()
    winner = table.ledger.match.winner
    verdict = verify(table.run().file())
    assert (verdict.result, verdict.reason, verdict.winner) == (Result.PROVEN, "forfeit", winner)
    assert verdict.unopened == ()


def test_no_link_is_due_once_the_match_is_over():
    table = french()
    seat = parse(until(table, Release, when=lambda body: body.j == 1)).seat
    table.step()
    table.add(table.rule("abandon", None, "server"))
    expected(table, "C22", "server", table.rule("forfeit", 1 - seat, "opening"))


def test_no_pause_is_ruled_where_only_links_may_follow():
    table = french()
    until(table, Act)
    for seat in range(2):
        table.add(table.act(seat, "pause"))
    until(table, Release, when=lambda body: body.j == 1)
    expected(table, "C22", "server", table.rule("pause"))


@each_row("kind", [Mask, Lock])
def test_silent_seat_before_keys_are_due_voids_the_call_as_the_terms_say(kind):
    table = french(opts=Opts(gone=2, voids=1))
    owing = parse(until(table, kind)).seat
    table.silent = frozenset({owing})
    table.step()
    assert (table.ledger.voids, table.ledger.silent) == (1, (owing,))
    table.silent = frozenset()
    assert verify(table.run().file()).result is Result.PROVEN


@each_row("cheats, winner, reason", [(False, 1, "resigned"), (True, 0, "forfeit")])
def test_resignation_in_a_hand_stands_but_a_cheat_that_opens_it_loses_all_the_same(cheats, winner, reason):
    table = french(cheats={1: other_order} if cheats else {}, seed=4)
    until(table, Act)
    table.add(table.players[0].resign(table.ledger))
    table.run()
    verdict = verify(table.file())
    assert (verdict.result, verdict.reason, verdict.winner) == (Result.PROVEN, reason, winner)


def test_match_without_a_hand_shows_nothing_of_what_the_host_could_see():
    table = french()
    table.add(table.players[0].resign(table.ledger))
    verdict = verify(table.run().file())
    assert (verdict.result, verdict.hands, verdict.host_saw_no_card) == (Result.PROVEN, 0, False)


def test_two_steps_of_a_seat_for_one_place_convict_it():
    one, other = french(), french()
    mask = until(one, Mask)
    until(other, Mask)
    points = list(parse(mask).points)
    points[0], points[2] = points[2], points[0]
    one.add(mask)
    other.add(changed(other, mask, points=tuple(points)))
    found = compare(
        Transcript(one.document, tuple(one.records)), Transcript(other.document, tuple(other.records))
    )
    assert {(each.check, each.culprit) for each in found} == {("C34", f"seat {parse(mask).seat}")}


def test_lends_are_owed_right_after_the_deal_and_in_their_order():
    table = mineiro()
    lend = until(table, Lend)
    body = parse(lend)
    expected(
        table, "C43", f"seat {body.receiver}", changed(table, lend, seat=body.receiver, receiver=body.seat)
    )
    seat = next(seat for seat in range(4) if table.actions(seat))
    act = table.record_of(table.actions(seat)[0])
    expected(table, "C43", None, act)


def test_server_rules_no_card_but_a_concession():
    table = french()
    play = until(table, Act, when=lambda body: body.kind == "play")
    body = parse(play)
    expected(table, "C22", "server", table.rule("move", body.seat, "play", body.args))
    moved = table.dealer.move(table.ledger)
    assert parse(moved).kind in ("concede", "stand", "decline")
    table.add(moved)


def test_kept_forgeries_are_refused_as_they_say():
    file = json.loads((FOLDER / "tampered.json").read_text(encoding="utf-8"))
    for group in file["testGroups"]:
        document, items = bytes.fromhex(group["document"]), [*map(bytes.fromhex, group["items"])]
        auditor = Auditor(document)
        for record in map(unpack_record, items):
            auditor.feed(record)
        for test in group["tests"]:
            trial = copy(auditor)  # it holds values alone, which nothing changes
            with pytest.raises(AuditError) as caught:
                trial.feed(unpack_record(bytes.fromhex(test["then"][0])))
            found = caught.value.refutation
            place = found.k, found.in_setup
            assert (found.check, found.culprit, *place) == tuple(
                test[field] for field in ("check", "culprit", "record", "setup")
            )
    checks = {test["check"] for group in file["testGroups"] for test in group["tests"]}
    assert {"C43", "C44", "C45", "C46", "C47", "C48", "C49", "C52", "C19", "C22", "C26"} <= checks


def empty_boxes(index: int) -> Callable[[BlindTable, object], object]:
    """Give keys that do not open, in one deal."""

    def change(table: BlindTable, step: object) -> object:
        return shut_boxes(table, step) if table.ledger.deal_index == index else step

    return change


def test_seat_that_cannot_read_the_hand_that_it_should_lend_says_garbled_in_its_place() -> None:
    honest = mineiro()
    until(honest, Lend)
    index = honest.ledger.deal_index
    table = mineiro()
    table.cheats = {0: empty_boxes(index)}
    until(table, Garbled)
    table.add(table.dealer.next_record(table.ledger))  # it is quicker than the claim
    table.run()
    after = [parse(record) for record in table.records]
    claimed = next(k for k, body in enumerate(after) if isinstance(body, Garbled))
    assert isinstance(after[claimed - 1], Deal)
    assert not [body for body in after if isinstance(body, Lend) and body.j == index]
    verdict = audit(table.document, table.records).verdict()
    assert (verdict.result, verdict.exposed.seat, verdict.exposed.kind) == (Result.PROVEN, 0, "cheat")


@pytest.mark.parametrize("name", ["french-redeals.truc", "mineiro-4-lends.truc", "paulista-unseen.truc"])
def test_hands_that_exposed_nobody_fold_to_the_same_ledger_without_their_points_being_checked_again(name):
    table = MATCHES[name]()
    checked = again = start(table.setup)
    for record in table.records[len(table.setup.records) :]:
        body = parse(record)
        checked = fold(checked, record, body).ledger
        again = fold(again, record, body, is_known=True).ledger
        assert again == checked


def test_cards_that_all_keys_show_are_found_once():
    table = paulista(seed=3)
    until(table, Keys)
    before, given = table.ledger, []
    for _ in range(2):
        given.append(table.next_record())
        table.add(given[-1])
    first, second = map(parse, given)
    find_card.cache_clear()
    find_shown(before, [first])
    assert find_card.cache_info().misses == 0  # the keys of one seat show nothing
    find_shown(before, [second, first])
    assert find_card.cache_info().misses == 1
    assert turned_up(table.ledger.sealed.pack)[0] is not None
    assert find_card.cache_info().misses == 1
