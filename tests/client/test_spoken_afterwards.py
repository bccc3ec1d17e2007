"""What a player meets after a match is in their language: replay, page, show, verify, history and how players stand.

In the language for tests every text stands in brackets: what is printed outside of them and is neither a name, a card, a number,
a word of the game nor one for machines has not come from a catalogue.
"""

import re
import shutil
from pathlib import Path

import msgspec
import pytest
from client.pseudo import LANG, unsaid
from client.running import truc
from client.test_ratings_commands import STANDING
from client.test_report import Reader
from client.viewed import FRENCH, KEPT, TRANSCRIPTS, replayed_file, voided
from msgspec.structs import replace
from protocol.forge import altered, small, until
from protocol.peers import Table
from rows import each_row

from truc_client.home.home import open_home
from truc_protocol.audit import Result
from truc_protocol.bodies import Close
from truc_protocol.setup import Opts
from truc_protocol.transcript import write_transcript
from truc_terminal.commands import ratings
from truc_terminal.replay_model.stages import ReplayedMatch, replay_of
from truc_terminal.report.page import page as report_page
from truc_terminal.screen.replaying import Replay, ReplayPosition, drawn_page, page
from truc_words import Speech, local_sets

FILES = [*TRANSCRIPTS, KEPT.parent / "session.truc"]
WORD = re.compile(r"[^\W\d_]{2,}")
LOCAL = {name for words in local_sets().values() for name in WORD.findall(str(msgspec.to_builtins(words)))}
"""The games' own words, which are the same in every language."""


RULINGS = ("move", "forfeit", "abandon", "pause", "resume")
MACHINE = {*WORD.findall(" ".join((*map(str.upper, Result), *Opts._fields, *RULINGS)))}
"""Words for machines: the results, the names of options, the kinds of rulings."""


def outside(told: str, *data: str) -> list[str]:
    """Return the words that come from no catalogue and are no data."""
    known = LOCAL | MACHINE | {*WORD.findall(" ".join(data))}
    return [word for word in unsaid(told) if word not in known and not re.fullmatch("[0-9a-f]+", word)]


def data_of(replayed: ReplayedMatch) -> tuple[str, ...]:
    """Return what in a match is no text: its names, that of the server, its game, its cards, its kinds of records."""
    names = (name for stage in replayed.stages for name in stage.record.names)
    kinds = (stage.record.kind for stage in replayed.stages)
    terms = (*replayed.terms.variant.pack, replayed.terms.table.name.decode()) if replayed.terms else ()
    return (*names, *kinds, *terms, replayed.verdict.variant or "", str(replayed.verdict.refutation))


def written(path: Path, table: Table) -> Path:
    path.write_bytes(table.file())
    return path


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_match_is_told_from_the_catalogues_alone(spoken, file) -> None:
    replayed = replayed_file(file, LANG)
    replay, stages = Replay(replayed, LANG, is_plain=False, seat=1), range(len(replayed.stages))
    told = {
        "replay": [page(replay, at).plain for at in stages[::3]],
        "drawn": [drawn_page(replay, at, width=2000, height=40).plain for at in stages[::9]],
        "page": Reader(report_page(replayed, lang=LANG)).told,
        "show": [truc("show", file, "--lang", LANG).output],
        "verify": [truc("verify", file, "--lang", LANG).output],
    }
    data = (*data_of(replayed), *Result, str(file))
    assert {
        where: found for where, lines in told.items() if (found := outside("\n".join(lines), *data))
    } == {}


def test_page_says_in_which_language_it_is() -> None:
    read = Reader(report_page(replayed_file(FRENCH, "fr"), lang="fr"))
    assert [given["lang"] for _, given in read.tags if "lang" in given] == ["fr"]


def test_what_happened_beside_play_is_told_from_the_catalogues(spoken, tmp_path) -> None:
    table = voided()
    table.add(table.newcomer(1))
    table.add(table.players[0].rekey(table.ledger))  # before its time
    file = written(tmp_path / "a.truc", table.run())
    data = (*data_of(replay_of(file.read_bytes(), lang=LANG)), str(file))
    for command in ("verify", "show"):
        assert outside(truc(command, file, "--lang", LANG).output, *data) == []


def test_what_files_show_together_is_told_from_the_catalogues(spoken, tmp_path) -> None:
    table = Table(small(), seed=1).run()
    whole, other = written(tmp_path / "a", table), written(tmp_path / "b", Table(small(), seed=2).run())
    half = tmp_path / "c"
    half.write_bytes(write_transcript(table.document, tuple(table.records[:20])))
    told = truc("verify", whole, half, other, "--lang", LANG).output
    assert outside(told, *data_of(replay_of(table.file(), lang=LANG)), str(tmp_path)) == []


def test_record_that_fails_is_announced_from_the_catalogues(spoken) -> None:
    table = Table(small())
    broken = altered(table, until(table, Close), j=9)
    file = write_transcript(table.document, (*table.records, broken))
    replayed = replay_of(file, lang=LANG)
    last = page(Replay(replayed, LANG, is_plain=True), len(replayed.stages) - 1).plain
    assert outside(last, *data_of(replayed)) == []
    assert "> ⟦FAILS: ⟧record " in last


def test_history_says_nothing_that_is_in_no_catalogue(spoken, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRUC_HOME", str(tmp_path))
    assert outside(truc("history", "--lang", LANG).output, str(tmp_path), "transcripts", "truc demo") == []
    for number, file in enumerate(FILES):
        shutil.copy(file, open_home(tmp_path).transcripts / f"{number:016x}.truc")
    told = truc("history", "--lang", LANG).output
    data = (text for file in FILES for text in data_of(replayed_file(file, LANG)))
    assert outside(told, *data, *Result, "truc history --all") == []


def test_standings_say_nothing_that_is_in_no_catalogue(spoken, tmp_path, monkeypatch) -> None:
    bot = replace(STANDING, bot=True)
    monkeypatch.setenv("TRUC_HOME", str(tmp_path))
    line = "\n".join(ratings.board([bot], bot.player, Speech(LANG)))
    assert outside(line, bot.name, bot.player) == []
    keyless = truc("profile", "localhost:1", "--lang", LANG)
    assert outside(keyless.stderr, "truc") == []
    for rows, call in ((1, "profile"), (0, "profile"), (0, "leaderboard")):
        answer = (bot,) * rows
        found = (answer, None, 2) if call == "leaderboard" else answer
        monkeypatch.setattr(ratings, "ask", lambda _where, _question, found=found: found)
        told = truc(
            call, "localhost:1", "put" if call == "leaderboard" else bot.player, "--lang", LANG
        ).output
        assert (outside(told, bot.name, bot.variant, "put", "seats"), told != "") == ([], True)


def test_notes_under_a_replay_are_from_the_catalogues(spoken) -> None:
    position = ReplayPosition(Replay(replayed_file(FRENCH, LANG), LANG, is_plain=False), 0)
    notes = [position.note]
    for act in (lambda: position.type("9"), lambda: position.type("9"), position.jump):
        act()
        notes.append(position.note)
    assert outside(" ".join(notes)) == []


@each_row(
    "words, data",
    [
        (("replay", FRENCH, "--hand", 99), ()),
        (("replay", FRENCH, "--seat", 9), ()),
        (("replay", "/none/a.truc"), ("/none/a.truc", "No such file or directory")),
        (("report", "/none/a.truc"), ("/none/a.truc", "No such file or directory")),
        (("show", "/none/a.truc"), ("/none/a.truc", "No such file or directory")),
        (("verify", "/none/a.truc"), ("/none/a.truc", "No such file or directory")),
        (("report", FRENCH, "-o", "/none/a.html"), ("/none/a.html", "No such file or directory")),
    ],
)
def test_what_cannot_be_read_or_shown_is_said_from_the_catalogues(spoken, words, data) -> None:
    told = truc(*words, "--lang", LANG)
    assert (told.exit_code, outside(told.stderr, "truc", "got", *data)) == (2, [])


def test_words_for_machines_stay_as_they_are() -> None:
    told = truc("verify", FRENCH, "--lang", "ca").output
    assert "PROVAT: cada carta" in told
    assert truc("verify", FRENCH, "--json", "--lang", "ca").output == truc("verify", FRENCH, "--json").output
