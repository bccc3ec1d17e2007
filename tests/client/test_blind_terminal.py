"""What a person reads of a table whose host sees no card: its terms, the deal, the verdict, and what is kept of it."""

import json
import re
from pathlib import Path

import pytest
from client.running import Process, run
from msgspec.structs import replace
from rows import each_row
from vectors.blind_matches import FOLDER

from truc_conform.shown import table_state
from truc_protocol.records import BLIND
from truc_protocol.setup import Opts
from truc_protocol.transcript import read_transcript, write_transcript
from truc_rules import preset
from truc_terminal.screen.explaining import terms_in_full, terms_line
from truc_words import ENGLISH

BADGE = "the host could not see the cards"
OPENED, EXPOSED, UNOPENED = (FOLDER / f"french-{name}.truc" for name in ("redeals", "exposed", "unopened"))


@pytest.mark.slow
def test_demo_deals_blind_tells_so_and_is_proven(truc, tmp_path) -> None:
    options = ("--deal", "blind", "--option", "target=3", "--option", "match=1")
    manner = ("--style", "careful", "--name", "north")
    told = run(tmp_path / "home", "demo", "--variant", "truc-french", *options, *manner)
    assert (told.returncode, told.stderr) == (0, "")
    assert "the seats deal (blind, experimental)" in told.stdout
    assert "mode blind (experimental, version 0): the seats deal among themselves" in told.stdout
    waits = [line for line in told.stdout.splitlines() if line.startswith("dealing ... ")]
    assert "dealing ... waiting for bot 1" in waits
    assert not [line for line in waits if "north" in line]
    assert len(waits) <= told.stdout.count("everybody is dealt")
    assert "Verified from the file alone: PROVEN" in told.stdout
    assert BADGE in told.stdout
    (kept,) = (tmp_path / "home" / "transcripts").iterdir()
    assert truc("verify", kept).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize("command", [("create",), ("play", "--variant")], ids=["create", "play"])
def test_table_that_is_opened_by_a_person_deals_blind(real_server, tmp_path, command) -> None:
    verb, *more = command
    words = (verb, real_server.url, *more, "truc-french", "--deal", "blind", "--private")
    with Process(tmp_path / "home", *words, "--name", f"by {verb}") as person:
        told = [person.line() for _ in range(2)]
    assert "the seats deal (blind, experimental)" in told[1]


@each_row(
    "words, expected",
    [
        (("demo", "--deal", "blind", "--option", "mode=dealt"), "--deal"),
        (("create", "localhost", "truc-french", "--deal", "blind", "--option", "mode=blind"), "--deal"),
        (("play", "localhost/ABCDE", "--deal", "blind"), "--deal"),
    ],
)
def test_deal_that_contradicts_another_option_is_a_usage_error(truc, words, expected) -> None:
    told = truc(*words)
    assert told.exit_code == 2
    assert expected in told.stderr


def test_terms_say_that_the_seats_deal() -> None:
    state = table_state(preset("truc-french"), Opts(), 2)
    blind = replace(state, mode=BLIND)
    assert "the seats deal (blind, experimental)" in terms_line(blind, ENGLISH)
    assert "mode=blind" in terms_in_full(blind, ENGLISH)
    assert "blind" not in terms_line(state, ENGLISH) + terms_in_full(state, ENGLISH)


@each_row("command, lang", [("verify", "ca"), ("show", "en"), ("replay", "fr")])
def test_what_is_told_of_a_kept_match_names_mode_and_version(truc, monkeypatch, command, lang) -> None:
    monkeypatch.setenv("LC_ALL", f"{lang}.UTF-8")
    told = truc(command, OPENED)
    assert told.exit_code == 0
    assert re.search(r"mod[eo] blind, vers\w+ 0", told.stdout)


@each_row("file, has_badge", [(OPENED, True), (EXPOSED, False), (UNOPENED, False)])
def test_only_a_match_that_shows_it_has_the_badge(truc, file: Path, has_badge: bool) -> None:
    told = truc("verify", file)
    assert told.exit_code == 0
    assert (BADGE in told.stdout) is has_badge


def test_cheat_is_named_also_where_no_forfeit_follows(truc, tmp_path) -> None:
    document, records = read_transcript(EXPOSED.read_bytes())
    forfeit = next(k for k, record in enumerate(records) if b"truc/1/rule" in record.body[:16])
    (cut := tmp_path / "cut.truc").write_bytes(write_transcript(document, records[:forfeit]))
    told = truc("verify", cut)
    assert "has cheated: their own link shows it." in told.stdout
    told = truc("verify", "--json", cut)
    assert json.loads(told.stdout)["exposed"] == {"seat": 1, "kind": "cheat"}


def test_each_step_with_the_pack_is_told(truc) -> None:
    told = truc("show", FOLDER / "mineiro-4-lends.truc")
    for step in (
        "shuffles the pack",
        "locks places",
        "gives every other seat",
        "shows its cards to a partner",
    ):
        assert step in told.stdout


def test_opened_hand_is_shown_with_everybodys_cards_and_no_pack_of_the_server(truc) -> None:
    told = truc("show", OPENED)
    assert "held: " in told.stdout
    assert "by the key of each seat" in told.stdout
    assert "seed from everybody's numbers" not in told.stdout
