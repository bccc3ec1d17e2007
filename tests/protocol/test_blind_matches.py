"""Whole matches of mode blind: what is proven of them, what follows silence and cheats, and every record out of place."""

import json
from collections.abc import Callable
from contextlib import suppress
from copy import copy
from functools import cache

import msgspec
from protocol.blind_peers import BlindTable, known
from protocol.forge import place, refutation, resigned, until
from protocol.peers import audit, here
from protocol.sealed_deals import replaced
from rows import each_row
from vectors.blind_matches import FOLDER, MATCHES, other_order, shut_boxes

from truc_protocol.audit import Auditor, Result, verify
from truc_protocol.audit.equivocation import compare
from truc_protocol.blind_mode.points import scalar, times
from truc_protocol.blind_mode.sealed_pack import LockStep, MaskStep, find_card, turned_up
from truc_protocol.bodies import Act, Deal, Garbled, Keys, Lend, Lock, Mask, Release
from truc_protocol.ledger import Due, ExposedSeat, due, find_cards_shown, fold, next_share, start_ledger
from truc_protocol.records import BLIND, PHASES, Phase, Record, parse
from truc_protocol.setup import Opts, blind_hindrance
from truc_protocol.transcript import Transcript, read_transcript, unpack_record
from truc_rules import CardError, Kind, deciders, presets, with_options
from truc_rules import preset as preset_of

SHORT = {"target": 3, "match": 1}


def french(seed: int = 1, *, seats: int = 2, opts: Opts | None = None, **table) -> BlindTable:
    variant = with_options(preset_of("truc-french"), SHORT)
    return BlindTable(variant, seats=seats, seed=seed, opts=opts, **table)


def paulista(seed: int = 1, **options) -> BlindTable:
    variant = with_options(preset_of("truco-paulista"), {"target": 4, **options})
    return BlindTable(variant, seats=2, seed=seed)


def mineiro() -> BlindTable:
    return BlindTable(with_options(preset_of("truco-mineiro-2"), {"target": 5}), seats=4)


def signed(table: BlindTable, body) -> Record:
    """Sign a body by whoever must, in its place."""
    return resigned(table, place(table, body))


def changed(table: BlindTable, record: Record, **fields) -> Record:
    return signed(table, msgspec.structs.replace(parse(record), **fields))


def expected(table: BlindTable, check: str, culprit: str | None, *records: Record) -> None:
    """Assert what a stranger with the file says of each of these records behind those of a table."""
    before = audit(table.document, table.records)
    found = [refutation(copy(before), record) for record in records]
    assert [(each.check, each.culprit) for each in found] == [(check, culprit)] * len(records)


FILES = {name: (FOLDER / name).read_bytes() for name in MATCHES}
made = cache(lambda name: MATCHES[name]())
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
def test_script_makes_the_transcript_byte_for_byte(name):
    assert made(name).file() == FILES[name]


@each_row("name", MATCHES)
def test_reader_knows_no_card_before_it_is_played_and_comes_to_the_verdict(name):
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
            played = [used for used in ledger.hand.opened_slots if used[0] == len(ledger.hand.deals) - 1]
            assert len(known(ledger)) == len(played)
    verdict = auditor.verdict()
    told = (verdict.result, verdict.reason, verdict.by_ruling, verdict.host_saw_no_card)
    assert told == COMES_TO[name]
    assert bool(verdict.unopened) == (name == "french-unopened.truc")


def test_kept_transcripts_hold_every_kind_of_record_of_the_mode():
    bodies = [parse(record) for file in FILES.values() for record in read_transcript(file).records]
    held = {type(body) for body in bodies}
    expected_kinds = {body for body, phases in PHASES[BLIND].items() if phases}
    assert expected_kinds == held
    assert any(isinstance(body, Lock) and body.d for body in bodies)
    assert [body.kind for body in bodies if isinstance(body, Act)].count("blind") >= 2


def test_bit_flipped_in_a_record_is_refused_at_that_record():
    transcript = read_transcript(FILES["french-exposed.truc"])
    auditor = Auditor(transcript.document)
    for at, record in enumerate(transcript.records):
        flipped = bytearray(record.body)
        flipped[(at * 37) % len(flipped)] ^= 1 << at % 8
        failed = refutation(copy(auditor), record._replace(body=bytes(flipped)))
        assert failed.setup + (failed.k or 0) == at
        auditor.feed(record)


def test_every_game_that_is_not_excluded_says_why_or_is_taken():
    excluded = {name: why for name in presets() if (why := blind_hindrance(preset_of(name), 0))}
    assert all("flor" in why or "signs" in why or "reveal" in why for why in excluded.values())
    assert len(presets()) - len(excluded) > 20
    assert blind_hindrance(preset_of("truc-french"), 1)


def test_kept_forgeries_are_refused_as_they_say():
    file = json.loads((FOLDER / "tampered.json").read_text(encoding="utf-8"))
    for group in file["testGroups"]:
        records = [unpack_record(bytes.fromhex(item)) for item in group["items"]]
        auditor = audit(bytes.fromhex(group["document"]), records)
        for test in group["tests"]:
            found = refutation(copy(auditor), unpack_record(bytes.fromhex(test["then"][0])))
            assert (found.check, found.culprit) == (test["check"], test["culprit"]), test["comment"]
            assert (found.k, found.in_setup) == (test["record"], test["setup"]), test["comment"]
    checks = {test["check"] for group in file["testGroups"] for test in group["tests"]}
    assert {"C43", "C44", "C45", "C46", "C47", "C48", "C49", "C52", "C19", "C22", "C26"} <= checks


def test_seat_that_gave_its_keys_wins_where_the_other_gives_none():
    table = paulista(seed=3)
    keys = until(table, Keys)
    seat = parse(keys).seat
    table.add(keys)
    table.add(table.rule("forfeit", 1 - seat, "opening"))
    assert table.ledger.outcome == (seat % 2, "forfeit")
    verdict = verify(table.run().file())
    assert (verdict.result, verdict.by_ruling) == (Result.PROVEN, True)


def test_server_rules_no_card_but_a_concession():
    table = french()
    until(table, Act, when=lambda body: body.kind == "play")
    moved = table.dealer.move(table.ledger)
    assert parse(moved).kind in ("concede", "stand", "decline")
    table.add(moved)


def test_false_claim_that_a_hand_is_garbled_exposes_its_claimant():
    table = french()
    seat = parse(until(table, Act)).seat
    table.add(signed(table, Garbled(*here(table.ledger), 1, 0, seat)))
    end_exposed(table, seat, "cheat")


def end_exposed(table: BlindTable, seat: int, kind: str) -> None:
    """Play until a seat is exposed: only its forfeit, or an abandoned match, may stand; it loses, and that is proven."""
    table.run(until=lambda ledger: ledger.blind_hand is not None and ledger.blind_hand.exposed is not None)
    assert table.ledger.blind_hand.exposed == (seat, kind)
    other = "false" if kind == "cheat" else "cheat"
    expected(table, "C52", "server", table.rule("pause"), table.rule("forfeit", 1 - seat, kind))
    expected(
        table, "C22", "server", table.rule("forfeit", seat, other), table.rule("forfeit", seat, "opening")
    )
    abandoned = table.rule("abandon", None, "server")
    given_up = audit(table.document, [*table.records, abandoned])
    assert given_up.ledger.outcome == (None, "abandoned")
    told = given_up.verdict()
    assert (told.exposed, told.by_ruling) == (ExposedSeat(seat, kind), True)
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
    end_exposed(french(cheats={seat: cheat}, seed=4), seat, "cheat")


def said_falsely() -> tuple[BlindTable, int]:
    """A seat says another value than its cards have."""
    for seed in range(1, 40):
        table = BlindTable("truco-argentino", seats=2, seed=seed)
        table.run(until=lambda ledger, table=table: _says(table) or ledger.deal_index > 3)
        if (saying := _says(table)) is not None:
            seat, value = saying
            table.add(table.act(seat, "points", (33 if value != 33 else 32,)))
            return table, seat
    raise ValueError("no seat says a value")


def test_false_value_is_found_when_the_hand_is_opened_and_loses():
    table, seat = said_falsely()
    end_exposed(table, seat, "false")


def _says(table: BlindTable) -> tuple[int, int] | None:
    if (
        table.ledger.hand is None
        or due(table.ledger) is not Due.PLAYERS
        or table.ledger.phase is not Phase.HAND
    ):
        return None
    blind = table.ledger.blind_hand
    if blind is None or blind.pack.owing() or blind.garbled:
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
    return next(table for seed in range(1, 40) if (table := _twice_held(seed)) is not None)


def dealt_doubled(seed: int, **table) -> BlindTable:
    """A hand of a pack in which cards lie twice, when its cards are read."""
    return french(seed, cheats={0: doubled, 1: doubled}, **table).run(
        until=lambda ledger: (
            ledger.blind_hand is not None and (ledger.blind_hand.garbled or ledger.hand is not None)
        )
    )


def test_card_that_two_hands_hold_ends_the_hand_without_blame_of_who_plays_it():
    table = held_twice()
    assert table.ledger.blind_hand.claimant is None
    end_exposed(table, table.ledger.match.dealer, "cheat")


def _twice_held(seed: int) -> BlindTable | None:
    """Play until a seat has to play a card that lies open already, and let it."""
    table = dealt_doubled(seed)
    with suppress(CardError):
        table.run(until=lambda ledger: ledger.blind_hand is None or ledger.blind_hand.garbled)
        return None
    seat = deciders(table.ledger.match)[0]
    lies = known(table.ledger)
    twice = [(slot, held) for slot, held in enumerate(table.hand(seat)) if held.card in lies]
    unplayed = [each for each in twice if (0, seat, each[0]) not in table.ledger.hand.opened_slots]
    if not unplayed or table.ledger.match.hand.offers:
        return None
    ((slot, held), *_) = unplayed
    table.add(table.act(seat, "play", (slot, held.card, held.keys, None)))
    return table


def declined_and_held_twice() -> tuple[BlindTable, int]:
    """A seat whose answer was ruled plays a card that lies open already; return it too."""
    return next(found for seed in range(29, 40) if (found := _declined_and_held_twice(seed)) is not None)


def _declined_and_held_twice(seed: int) -> tuple[BlindTable, int] | None:
    table = dealt_doubled(seed, opts=Opts(gone_after=1))
    if table.ledger.blind_hand.garbled:
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


def empty_boxes(index: int) -> Callable[[BlindTable, object], object]:
    """Give keys that do not open, in one deal."""

    def change(table: BlindTable, step: object) -> object:
        return shut_boxes(table, step) if table.ledger.deal_index == index else step

    return change


def test_seat_that_cannot_read_the_hand_that_it_should_lend_says_garbled_in_its_place() -> None:
    table, index = mineiro(), 2  # in which the cards are lent
    table.cheats = {0: empty_boxes(index)}
    until(table, Garbled)
    table.add(table.dealer.next_record(table.ledger))  # it is quicker than the claim
    assert next_share(table.ledger) is not None
    table.run()
    after = [parse(record) for record in table.records]
    claimed = next(k for k, body in enumerate(after) if isinstance(body, Garbled))
    assert isinstance(after[claimed - 1], Deal)
    assert not [body for body in after if isinstance(body, Lend) and body.j == index]
    verdict = audit(table.document, table.records).verdict()
    assert (verdict.result, verdict.exposed.seat, verdict.exposed.kind) == (Result.PROVEN, 0, "cheat")


@each_row("name", ["french-redeals.truc", "mineiro-4-lends.truc", "paulista-unseen.truc"])
def test_hands_that_exposed_nobody_fold_to_the_same_ledger_without_their_points_being_checked_again(name):
    table = made(name)
    checked = again = start_ledger(table.setup)
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
    find_cards_shown(before, [first])
    assert find_card.cache_info().misses == 0  # the keys of one seat show nothing
    find_cards_shown(before, [second, first])
    assert find_card.cache_info().misses == 1
    assert turned_up(table.ledger.blind_hand.pack)[0] is not None
    assert find_card.cache_info().misses == 1
