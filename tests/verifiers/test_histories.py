"""What two histories of a match show together, each cut anywhere and with refusals beside them: in JavaScript as here."""

import json
import os
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from clients_elsewhere.programs import needs_node
from msgspec.structs import replace
from protocol.blind_peers import BlindTable
from protocol.forge import cheat, with_card
from protocol.peers import Puppet, Table
from protocol.rewriting import forked
from protocol.shared import sharing_table
from rows import each_row
from verifiers.test_javascript import node, short

from truc_protocol.audit import Verdict, examine
from truc_protocol.audit.cross_audit import CrossAudit, EvidenceExamined
from truc_protocol.bodies import Act, Rekey, Resign
from truc_protocol.checks import CheckError
from truc_protocol.evidence_file import Complaint, SignedRefusal, read_refusal, write_evidence
from truc_protocol.ledger import next_share
from truc_protocol.records import SERVER, Record, parse
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_rules import Action, Kind

pytestmark = [pytest.mark.slow, needs_node]

MATCHES = range(120) if "TRUC_EXAMPLES" in os.environ else (4, 7, 21, 26)
"""By their seeds: one of each game. Each fault that either verifier had here shows in one of these four: what closed cards may
decide, a refusal in another match's name, keys of a redeal that are signed again."""
BOLD = (Kind.ENVIDO, Kind.POINTS, Kind.GOOD, Kind.ACCEPT, Kind.REDEAL)
"""What leads to decisions that hang on closed cards, and to new cards."""


class Bold(Table):
    """A match whose seats do what is bold more often than not."""

    def choice(self) -> Action:
        actions = [action for seat in range(self.ledger.seats) for action in self.actions(seat)]
        bold = [action for action in actions if action.kind in BOLD]
        return self.random.choice(bold) if bold and self.random.random() < 0.8 else super().choice()


class BoldBlind(Bold, BlindTable):
    """The same in mode blind."""


GAMES = (
    lambda seed: Bold(short("truco-argentino-flor"), seed=seed),
    lambda seed: BoldBlind("truco-argentino", seed=seed),
    lambda seed: Bold(short("truco-argentino-flor", reveal="match"), seed=seed),
    lambda seed: BoldBlind(short("truc-french"), seed=seed),
)
Shown = set[tuple[Any, ...]]


def histories(number: int) -> Iterator[bytes]:
    """Play a match; from one place on twice, otherwise. Yield both lists, cut behind each record since, and refusals."""
    chance = random.Random(number)
    table = GAMES[number % len(GAMES)](number)
    for _ in range(chance.randrange(8, 30)):
        table.step()
    shared, acts = len(table.records), list[Record]()
    for _ in range(2):
        fork = gone_on(forked(table, table.ledger.k), chance)
        for end in range(shared + 1, len(fork.records) + 1):
            yield write_transcript(fork.document, fork.records[:end])
        acts += (each for each in fork.records[shared:] if isinstance(parse(each), Act | Resign))
    yield write_evidence(refusals(table, chance.sample(acts, min(len(acts), 3)), chance))


def gone_on(fork: Table, chance: random.Random) -> Table:
    """Go on with a match for a while, by new dice; somebody may pause at once, and resign in the end."""
    fork.random = random.Random(chance.random())
    # where neither may stand now, the match goes on without
    with suppress(CheckError):
        if chance.random() < 0.3:
            fork.add(fork.act(chance.randrange(2), "pause"))
    for _ in range(chance.randrange(1, 6)):
        fork.step()
    with suppress(CheckError):
        if chance.random() < 0.5:
            fork.add(fork.players[chance.randrange(2)].resign(fork.ledger))
    for _ in range(4):
        fork.step()
    return fork


def refusals(table: Table, refused: list[Record], chance: random.Random) -> Iterator[SignedRefusal]:
    """Refuse bodies, rightly or not, and now and then in the name of another match."""
    for record in refused:
        mid = table.setup.mid if chance.random() < 0.7 else bytes(32)
        code = chance.choice(["illegal_action", "stale_position"])
        refusal = read_refusal(table.dealer.refuse(mid, record.body, code))
        assert refusal is not None
        yield refusal


def newcomer_of_two_seats() -> list[bytes]:
    """A newcomer who decides in a seat of one list, and for that position otherwise in another seat of the other list."""
    table = Table(short("truc-french"), seed=121, opts=Opts(gone=1)).to("called")
    table.silent = frozenset({0, 1})
    table.step()
    table.silent = frozenset()
    key, files = Puppet(0, table.seed, person="of two seats ").key, list[bytes]()
    for seats in ((0, 1), (1, 0)):
        fork = forked(table, table.ledger.k)
        fork.players = {seat: Puppet(seat, table.seed, person=f"of {seats} ") for seat in seats}
        fork.players[seats[0]].key = key
        for seat in seats:
            fork.add(fork.players[seat].sub(fork.ledger))
        fork.to("hand", index=0)
        fork.add(fork.act(seats[0], "pause"))
        files.append(fork.file())
    return files


def chain_of_the_server_refused() -> list[bytes]:
    """The server's own new chain as the last record, and the server's word that such a body came too late."""
    table = Table(short("truc-french"), seed=122, links=1)
    while not isinstance(parse(table.records[-1]), Rekey):
        table.step()
    assert table.records[-1].signer == SERVER
    refusal = read_refusal(table.dealer.refuse(table.setup.mid, table.records[-1].body, "stale_position"))
    assert refusal is not None
    return [table.file(), write_evidence([refusal])]


def words_behind(table: Table, **changed: bytes) -> list[bytes]:
    """What somebody signs twice, a record, a match and a table, the second time in lists of a table of their own."""
    other = table.sign(replace(table.terms.table, **changed))
    second = table.rule("abandon", None, "server")
    table.add(table.dealer.move(table.ledger))
    match, terms = parse(table.setup.records[-1]), replace(table.terms.table, time=0)
    words = second, table.sign(replace(match, seats=())), table.sign(terms)
    return [table.file(), *(write_transcript(table.document, [other, word]) for word in words)]


def word_on_another_table() -> list[bytes]:
    """What the server has signed twice, the second time in a list of another table."""
    return words_behind(Table(short("truc-french"), seed=123).to("hand"), tn=bytes(32))


def word_of_another_server() -> list[bytes]:
    """A list of another server that takes the table's nonce, and contradicts what the table's server has signed."""
    table = Table(short("truc-french"), seed=123).to("hand")
    table.server = Table(seed=124).server
    return words_behind(table, spk=table.server.public)


def refusal_with_a_long_signature() -> list[bytes]:
    """A refusal that no server has signed, longer than a body may be."""
    table = Table(short("truc-french"), seed=124).to("hand")
    record = table.dealer.refuse(table.setup.mid, table.records[-1].body, "illegal_action")
    refusal = read_refusal(record._replace(sig=bytes(65_500)))
    assert refusal is not None
    return [table.file(), write_evidence([refusal])]


def torn_history() -> list[bytes]:
    """Two histories, one of which breaks off within an item, and a refusal of what the server took in it."""
    table = Table(short("truc-french"), seed=125).to("hand")
    table.step()
    refusal = read_refusal(table.dealer.refuse(table.setup.mid, table.records[-1].body, "illegal_action"))
    assert refusal is not None
    other = forked(table, table.ledger.k - 1)
    for each in (table, other):
        each.add(each.rule("abandon", None, "server"))
    return [table.file() + b"\x00", other.file(), write_evidence([refusal])]


def card_of_two_partners() -> list[bytes]:
    """A share whose card another partner has shown the seat already, and the seat's complaint about it."""
    table = sharing_table(seats=6)
    fork = forked(table, table.ledger.k - 1).careless()
    card = fork.dealer._cards(fork.ledger, 1)[0].hands[2][0].card
    cheat(fork, lambda cards: with_card(cards, 4, 0, cards.hands[4][0]._replace(card=card)))
    fork.step()
    fork.run(until=lambda ledger: next_share(ledger) == (4, 0))
    complaint = Complaint(fork.setup.mid, fork.ledger.k, 0, fork.players[0].x.secret)
    fork.step()
    return [fork.file(), write_evidence([complaint])]


CONSTRUCTED: dict[str, tuple[Callable[[], list[bytes]], Shown]] = {
    # neither seat is the newcomer's in both lists, so C34 would name one that is somebody else's
    "newcomer of two seats": (newcomer_of_two_seats, {("two", 0, 1, "C33", "server")}),
    # taken is what the server has signed a record behind
    "chain of the server, refused as late": (chain_of_the_server_refused, set()),
    # what is of one match is compared in lists of that match
    "word on another table": (word_on_another_table, set()),
    # anybody can open a table of their own, with a nonce that they have seen
    "word of another server": (word_of_another_server, set()),
    # what a transcript may hold an item may hold too
    "refusal with a long signature": (refusal_with_a_long_signature, set()),
    # a complaint is about the seat's own cards; two partners' the end compares (C25)
    "card of two partners": (card_of_two_partners, set()),
    # what passes before the torn end counts
    "torn history": (torn_history, {("two", 0, 1, "C33", "server"), ("refusal", 2, 0, "C35", 8)}),
}


def told_here(examined: CrossAudit) -> Shown:
    shown: Shown = {
        ("two", each.first, each.second, each.found.check, each.found.culprit)
        for each in examined.contradictions
    }
    for number, file in enumerate(examined.files):
        if isinstance(file, Verdict):
            shown.add(("one", number, file.level, file.records))
        if isinstance(file, EvidenceExamined):
            shown.add(("evidence", number, file.unreadable is None))
            shown |= {
                ("refusal", number, each.transcript, each.refutation.check, each.refutation.k)
                for each in file.weighed
                if each.refutation is not None
            }
    return shown


def told_in_javascript(lines: list[str]) -> Shown:
    shown: Shown = set()
    for told in map(json.loads, lines):
        match told:
            case {"files": [first, second], "check": check, "culprit": culprit}:
                shown.add(("two", int(first), int(second), check, culprit))
            case {"file": file, "evidence": weighed, "result": result}:
                shown.add(("evidence", int(file), result != "unreadable"))
                shown |= {
                    ("refusal", int(file), int(each["transcript"]), each["check"], each["record"])
                    for each in weighed
                    if each.get("check") is not None
                }
            case {"file": file, "level": level, "records": records}:
                shown.add(("one", int(file), level, records))
    return shown


@each_row("name", CONSTRUCTED)
def test_constructed_files_show_this_and_no_more_in_both(name: str, tmp_path: Path) -> None:
    make, expected = CONSTRUCTED[name]
    files = make()
    for number, file in enumerate(files):
        (tmp_path / str(number)).write_bytes(file)
    told = node("verify.mjs", "--json", *map(str, range(len(files))), folder=tmp_path)
    both = told_here(examine(files)), told_in_javascript(told.stdout.splitlines())
    assert both[0] ^ both[1] == set()
    assert {each for each in both[0] if each[0] in ("two", "refusal")} == expected


def test_histories_show_the_same_together(tmp_path: Path) -> None:
    files = [file for number in MATCHES for file in histories(number)]
    for number, file in enumerate(files):
        (tmp_path / str(number)).write_bytes(file)
    told = node("verify.mjs", "--json", *map(str, range(len(files))), folder=tmp_path)
    here = told_here(examine(files))
    assert told_in_javascript(told.stdout.splitlines()) ^ here == set()
    assert {each[3] for each in here if each[0] == "two"} == {"C33", "C34"}
    assert {each[3] for each in here if each[0] == "refusal"} == {"C35"}
