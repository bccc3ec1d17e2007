from protocol.forge import small
from protocol.peers import Table
from protocol.shared import sharing_table
from rows import each_row

from truc_docs.protocol.examples import EXAMPLES
from truc_docs.protocol.registries import STATE_FIELDS
from truc_protocol.bodies import Close, Deal, Open, Proxy
from truc_protocol.codec import pack, unpack
from truc_protocol.dealing import DealtCards
from truc_protocol.ledger import Ledger, fold
from truc_protocol.ledger.facts import RECORD_FACTS, means, state_fact
from truc_protocol.messages import Snapshot
from truc_protocol.records import Record, parse
from truc_protocol.setup import Opts
from truc_rules import preset, with_options


def meaning(ledger: Ledger, record: Record, dealt=None) -> list[dict]:
    body = parse(record)
    folded = fold(ledger, record, body)
    return means(body, folded.ledger, folded.events, dealt)


def fact_of(table: Table, record: Record) -> dict:
    """The record's own fact: the one that neither an event nor the state tells."""
    return next(fact for fact in meaning(table.ledger, record) if fact["what"] in RECORD_FACTS)


def met(table: Table) -> dict[str, dict]:
    """Play to the end; return one fact of each kind the records tell."""
    found: dict[str, dict] = {}
    while (record := table.next_record()) is not None:
        for fact in meaning(table.ledger, record):
            found.setdefault(fact["what"], fact)
        table.add(record)
    return found


def test_a_match_tells_how_it_was_dealt_and_ended():
    told = met(Table())
    assert {"called", "released", "first_dealer_drawn", "hands_committed", "hand_closed"} <= told.keys()
    assert {"match_ended", "acked", "card_played", "state"} <= told.keys()


def test_every_fact_has_exactly_the_fields_of_the_table():
    told = met(Table()) | met(sharing_table())
    of_records = {what: fact for what, fact in told.items() if what in RECORD_FACTS}
    assert {what: tuple(fact)[1:] for what, fact in of_records.items()} == {
        what: RECORD_FACTS[what][0] for what in of_records
    }


def test_facts_travel_on_the_wire():
    told = list(met(Table("truc-catalan", seats=4)).values())
    assert unpack(pack({"means": told}))["means"] == [
        {name: list(value) if isinstance(value, tuple) else value for name, value in fact.items()}
        for fact in told
    ]


def played(phase: str, **options) -> Table:
    return Table(**options).to(phase)


def substituted() -> tuple[Table, Record]:
    table = Table(opts=Opts(gone=1)).to("called", index=1)
    table.silent = frozenset({1})
    table.run(until=lambda ledger: ledger.phase == "between")
    return table, table.next_record()


@each_row(
    "table, record, fact",
    lambda: [
        (
            table := played("called"),
            table.dealer.void(table.ledger),
            {"what": "deal_voided", "seats": [0, 1]},
        ),
        (table := played("hand"), table.act(1, "pause"), {"what": "pause_asked", "seat": 1}),
        (table := played("hand").rest(), table.act(1, "resume"), {"what": "resume_asked", "seat": 1}),
        (table := played("hand"), table.players[1].resign(table.ledger), {"what": "resigned", "seat": 1}),
        (table := played("hand", guests=(0, 1)), table.act(1, "resign"), {"what": "resigned", "seat": 1}),
        (table := Table(), table.players[1].rekey(table.ledger), {"what": "rekeyed", "role": 2}),
        (*substituted(), {"what": "seat_substituted", "seat": 1}),
    ],
)
def test_record_is_told_with_whom_it_is_about(table, record, fact):
    assert fact_of(table, record) == fact


def test_a_ruling_says_what_was_ruled_before_what_it_brings_about():
    table = played("hand")
    ruled, *others = meaning(table.ledger, table.dealer.move(table.ledger))
    assert (ruled["what"], ruled["ruling"], ruled["kind"]) == ("ruled", "move", "stand")
    assert [fact["what"] for fact in others] == ["stood", "state"]


def test_forced_cards_are_told_as_people_write_them():
    table = Table().to("hand")
    body = Open(table.setup.mid, 0, b"", 1, 0, 1, ((0, 5, bytes(16)),))
    told = means(body, table.ledger, ())
    assert told[0] == {"what": "cards_opened", "seat": 1, "cards": [table.variant.pack[5]]}


def test_a_close_opens_every_hand_once_its_link_is_known():
    table = Table()
    table.run(until=lambda ledger: isinstance(parse(table.next_record()), Close))
    dealt = DealtCards(tuple(table.dealer.openings(table.ledger, seat) for seat in range(2)), (), 0)
    told = meaning(table.ledger, table.next_record(), dealt)
    opened = next(fact for fact in told if fact["what"] == "hands_opened")
    assert [len(hand) for hand in opened["cards"]] == [3, 3]


def test_no_card_is_told_before_it_is_open():
    table = Table(with_options(preset("truc-french"), {"reveal": "match", "target": 2, "match": 1}))
    hidden: set[str] = set()
    while (record := table.next_record()) is not None:
        told = meaning(table.ledger, record)
        table.add(record)
        if isinstance(parse(record), Deal):
            hands = [table.dealer.openings(table.ledger, seat) for seat in (0, 1)]
            hidden = {table.variant.pack[opening.card] for hand in hands for opening in hand}
        seen = {card for card in hidden if repr(card) in str(told)}
        assert seen == {fact["card"] for fact in told if fact["what"] == "card_played"}
        hidden -= seen


def test_state_has_the_fields_that_are_listed_in_the_phases_that_are_listed():
    table, seen = Table(small()), {}
    while table.step() is not None:
        fact = state_fact(table.ledger)
        seen.setdefault((fact["phase"], table.ledger.match is not None), set()).add(tuple(sorted(fact)))
    always = {"what", "phase", "score"}
    in_play = always | set(STATE_FIELDS) - {"paused"}
    assert seen == {
        ("between", True): {tuple(sorted(in_play))},
        ("called", False): {tuple(sorted(always | {"waiting"}))},
        ("called", True): {tuple(sorted(always | {"waiting"}))},
        ("hand", True): {tuple(sorted(in_play))},
        ("over", True): {tuple(sorted(always))},
        ("ended", True): {tuple(sorted(always))},
    }


def test_example_of_a_snapshot_shows_a_state_as_it_is_between_two_hands():
    (shown,) = [message.view for _, message in EXAMPLES if isinstance(message, Snapshot)]
    table = Table().run(until=lambda ledger: ledger.phase == "between" and ledger.match is not None)
    real = state_fact(table.ledger)
    assert {name: type(value) for name, value in shown.items()} == {
        name: type(value) for name, value in real.items()
    }
    assert {type(number) for side in shown["score"] for number in side} == {int}


def test_state_of_a_match_that_rests_says_so_and_keeps_its_other_fields():
    table = Table().to("hand")
    before = state_fact(table.ledger)
    assert state_fact(table.rest().ledger) == {**before, "paused": True}


def test_state_waits_for_releases_and_decisions_and_for_nobody_before_the_draw_or_after_a_hand():
    table = Table()
    assert "waiting" not in state_fact(table.ledger)
    table.to("called").step()
    assert state_fact(table.ledger)["waiting"] == [1]
    table.to("hand")
    assert state_fact(table.ledger)["waiting"] == [1 - table.ledger.match.dealer]
    table.run(until=lambda ledger: isinstance(parse(table.next_record()), Close))
    assert state_fact(table.ledger)["waiting"] == []


def test_state_says_when_the_whole_game_is_at_stake():
    table = Table().to("hand")
    table.play("stand")
    table.play("raise rest")
    table.play("raise rest")
    assert state_fact(table.ledger)["stake"] == "game"


def test_a_guests_move_is_told_by_the_rules_alone():
    table = Table(guests=(0, 1)).to("hand")
    record = table.act(1 - table.ledger.match.dealer, "stand")
    assert isinstance(parse(record), Proxy)
    assert [fact["what"] for fact in meaning(table.ledger, record)] == ["stood", "state"]
