"""`truc show`: record by record, in words, with every commitment opened, up to the record that fails."""

import json
import re

import pytest
from client.running import truc
from client.viewed import voided
from protocol.forge import small, until
from protocol.peers import Puppet, Table
from rows import each_row

from truc_protocol import dealing
from truc_protocol.bodies import Act, Close, Deal
from truc_protocol.dealing import Opening
from truc_protocol.records import Record, parse
from truc_protocol.transcript import write_transcript
from truc_terminal.replay_model.annotating import Annotator, OpenedCard, OpenedDeal, OpenedLink


@pytest.fixture
def show(tmp_path):
    """Return a way to show a file of given bytes."""

    def shown(content: bytes, *arguments: str):
        (tmp_path / "a.truc").write_bytes(content)
        return truc("show", tmp_path / "a.truc", *arguments)

    return shown


@pytest.fixture(scope="module")
def table() -> Table:
    return Table(small(target=4)).run()


def file(table: Table, *more: Record) -> bytes:
    return write_transcript(table.document, (*table.records, *more))


def commitments(content: bytes, kind: type) -> list:
    return [it for each in Annotator(content).records() for it in each.commitments if isinstance(it, kind)]


def test_records_are_told_in_words_those_of_guests_as_unsigned_and_the_verdict_last(show, table) -> None:
    told = show(table.file()).output
    assert 'record 1: release, signed by seat 0 "player 0", the signature is valid\n' in told
    assert " plays " in told
    assert re.search(r'score  seat 0 "player 0": \d+ points?; seat 1 "player 1": \d+ points?\n', told)
    assert told.splitlines()[-1].startswith("PROVEN")
    told = show(Table(small(), guests=(0, 1)).run().file()).output
    assert "proxy, written down by the server for a guest, signed by nobody" in told
    broken_off = show(Table().to("hand").file())
    assert (broken_off.exit_code, broken_off.output.splitlines()[-1].split(":")[0]) == (0, "INCOMPLETE")


def test_card_played_is_opened_onto_its_leaf(table) -> None:
    opened = commitments(table.file(), OpenedCard)
    variant = table.terms.variant
    assert opened
    for card in opened:
        opening = Opening(variant.pack.index(card.card), card.salt)
        place = {"j": card.j, "d": card.d, "seat": card.seat, "slot": card.slot}
        assert dealing.leaf(table.setup.mid, **place, opening=opening) == card.leaf


def test_release_is_told_as_a_number_of_its_chain_after_a_rekey_of_the_new_one() -> None:
    table = Table(small()).to("between")
    table.add(table.players[0].rekey(table.ledger))
    table.to("hand")
    first, second = [link for link in commitments(table.file(), OpenedLink) if link.role == 1]
    assert (first.number, second.first, second.number) == (1, 1, 2)


def test_close_opens_the_whole_pack_from_which_the_cards_came_in_order_and_tells_those_not_played(table):
    deals = commitments(table.file(), OpenedDeal)
    bodies = [parse(record) for record in table.records]
    assert [deal.j for deal in deals] == [body.j for body in bodies if isinstance(body, Close)]
    assert all(sorted(deal.pack) == sorted(table.terms.variant.pack) for deal in deals)
    dealer = next(body.dealer for body in bodies if isinstance(body, Deal))
    first, last = deals[0], deals[-1]
    assert (first.hands[0][(dealer + 1) % 2][0], first.hands[0][dealer][0]) == first.pack[:2]
    played = {card.card for card in commitments(table.file(), OpenedCard) if card.j == last.j}
    held = {card for cards in last.hands[-1] for card in cards}
    assert {card for cards in last.unplayed for card in cards} == held - played


def test_hands_under_match_are_opened_by_the_end() -> None:
    table = Table(small(reveal="match", target=4)).run()
    shown = list(Annotator(table.file()).records())
    opening = [each.kind for each in shown for it in each.commitments if isinstance(it, OpenedDeal)]
    assert set(opening) == {"end"}
    assert len(opening) == sum(each.kind == "close" for each in shown)


def test_record_that_fails_is_the_last_and_says_why(show) -> None:
    table = Table().to("hand")
    failing = file(table, table.rule("forfeit", 0, "absent"), *table.records[-1:])
    told, as_json = show(failing), show(failing, "--json")
    assert "FAILS: record 8: C22" in told.output
    assert "The server made a ruling that it may not make" in told.output
    assert "record 9" not in told.output
    assert (told.exit_code, as_json.exit_code) == (1, 1)
    last = json.loads(as_json.stdout.splitlines()[-1])
    assert (last["check"], last["record"], last["setup"], last["signature"]) == ("C22", 8, None, "unchecked")


def test_record_that_fails_is_not_said_to_be_signed_nor_one_of_no_kind_to_be_known(show) -> None:
    table = Table().to("hand")
    forged = table.dealer.move(table.ledger)._replace(sig=bytes(64))
    assert "record 8: rule, in the name of the server\n" in show(file(table, forged)).output
    assert "record 8: unknown, in the name of" in show(file(table, Record(9, b"\xc1", b""))).output


def test_torn_file_is_shown_to_where_it_is_torn_and_something_else_not_at_all(show, table) -> None:
    told = show(table.file()[:-3])
    assert told.exit_code == 2
    assert "the file ends inside it" in told.stderr
    assert "record 1: release" in told.output
    assert show(b"something else").exit_code == 2


def test_json_has_an_object_for_each_record_with_its_player_and_the_cards_as_they_were_signed(show, table):
    rows = [json.loads(line) for line in show(table.file(), "--json").stdout.splitlines()]
    assert len(rows) == len(table.records)
    assert rows[0]["setup"] == 0
    assert [row["record"] for row in rows[4:]] == list(range(len(table.records) - 4))
    assert {(row["signer"], row["name"]) for row in rows} == {(0, None), (1, "player 0"), (2, "player 1")}
    cards = [it for row in rows for it in row["commitments"] if it["what"] == "opened_card"]
    acts = [parse(record) for record in table.records if isinstance(parse(record), Act)]
    assert [it["salt"] for it in cards] == [act.args[2].hex() for act in acts if act.kind == "play"]


@each_row(
    "name, said, unsaid",
    [
        (b"\x1b[2Jred", "[2Jred", "\x1b"),
        (
            b"the server",
            'seat, signed by seat 0 "the server", the signature is valid',
            "seat, signed by the server",
        ),
    ],
)
def test_name_is_not_obeyed_by_the_terminal_nor_taken_for_the_server(show, monkeypatch, name, said, unsaid):
    monkeypatch.setattr(Puppet, "name", name)
    told = show(Table(small()).run().file()).output
    assert (said in told, unsaid in told) == (True, False)


def test_newcomer_is_called_by_their_own_name_from_then_on(show) -> None:
    table = voided()
    table.add(table.newcomer(1))
    told = show(table.run().file()).output
    assert 'sub, signed by seat 1 "newcomer' in told
    assert 'release, signed by seat 1 "newcomer' in told


def test_redeal_is_shown_beside_the_first_deal() -> None:
    table = Table().to("hand")
    table.play("redeal")
    table.play("accept")
    until(table, Close)
    table.step()
    (deal,) = commitments(table.file(), OpenedDeal)
    assert len(deal.hands) == 2
