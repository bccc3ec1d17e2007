"""Games of the host's own: read at the start, listed, played, and kept by the tables that play them."""

import os
import shutil
from dataclasses import replace

import pytest
from server.commands import call
from server.conftest import give_up, running
from server.restarting import come_back, play_until_stopped
from server.stored import sql
from server.visitors import guest
from structlog.testing import capture_logs

from truc_protocol.audit import Result, verify
from truc_protocol.codec import sha256
from truc_protocol.documents import read_document, rule_document
from truc_protocol.transcript import write_transcript
from truc_rules import VariantError, preset, presets
from truc_server.settings.folder import Folder
from truc_server.settings.variants import MOST, VariantsError, read_catalogue

CLUB_TRUC = """
name = "club-truc"
version = 3
base = "truc-catalan"
ladder = [1, 2, 4]
signals = false

[scoring]
target = 6
"""
CLUB = replace(
    preset("truc-catalan"),
    name="club-truc",
    version=3,
    ladder=(1, 2, 4),
    signals=None,
    scoring=replace(preset("truc-catalan").scoring, target=6),
)
CHANGED = CLUB_TRUC.replace("target = 6", "target = 9").replace("version = 3", "version = 4")


@pytest.fixture
def data(path):
    """A data folder with one game of its host's own."""
    folder = Folder(path)
    folder.root.mkdir(mode=0o700)
    folder.variants.mkdir()
    write(folder, CLUB_TRUC)
    return folder


def write(folder: Folder, text: str, name: str = "club-truc.toml") -> None:
    (folder.variants / name).write_text(text, "utf-8")


def remove(folder: Folder) -> None:
    shutil.rmtree(folder.variants)


def change(folder: Folder) -> None:
    write(folder, CHANGED)


def problems(folder: Folder) -> tuple[str, ...]:
    with pytest.raises(VariantsError) as error:
        read_catalogue(folder.variants)
    return error.value.problems


class TestFolder:
    def test_file_is_a_game_beside_the_presets(self, data):
        write(data, "no TOML", ".club-truc.toml.swp")  # a hidden file is passed over
        games = {name: preset(name) for name in presets()}
        assert read_catalogue(data.variants).games == games | {"club-truc": CLUB}
        remove(data)
        assert read_catalogue(data.variants).games == games

    def test_every_wrong_file_is_told(self, data):
        write(data, CLUB_TRUC.replace("[1, 2, 4]", "[1, 1]"), "a.toml")
        write(data, CLUB_TRUC.replace("club-truc", "put"), "b.toml")
        (data.variants / "c.toml").write_bytes(b"\xff\xfe")
        write(data, CHANGED, "d.toml")
        write(data, "", "e.txt")
        (data.variants / "f.toml").mkdir()
        (data.variants / "g.toml").symlink_to("nothing.toml")
        os.mkfifo(data.variants / "h.toml")
        told = [problem.removeprefix("variants/").partition(", got: ")[0] for problem in problems(data)]
        assert told == [
            "a.toml: ladder: expected two or more rising stakes, got [1, 1]",
            'b.toml: name: expected a name that no preset has, got "put"',
            "c.toml: expected text in UTF-8",
            'd.toml: name: expected another one than variants/club-truc.toml has, got "club-truc"',
            "e.txt: expected a file that ends in .toml, got e.txt",
            "f.toml: expected a file, got a folder",
            "g.toml: expected a file, got a link to nothing",
            "h.toml: expected a file, got something else",
        ]

    @pytest.mark.parametrize(
        ("make", "why"),
        [
            (lambda path: path.symlink_to("unmounted"), "No such file or directory"),
            (lambda path: path.write_text(""), "Not a directory"),
        ],
        ids=["a disk that is not there", "a file"],
    )
    def test_what_is_no_folder_is_not_taken_for_none(self, data, make, why):
        remove(data)
        make(data.variants)
        assert problems(data) == (f"cannot read {data.variants}: {why}",)

    def test_unknown_game_is_answered_with_own_games_like_it(self, data):
        with pytest.raises(
            VariantError, match=r"got 'club-true'; the nearest is club-truc; `truc rules --from"
        ):
            read_catalogue(data.variants).named("club-true")

    def test_more_files_than_the_limit_are_refused(self, data):
        for number in range(MOST):
            (data.variants / f"{number}.toml").touch()
        assert problems(data) == (f"{data.variants}: expected at most {MOST} files, got {MOST + 1}",)


@pytest.mark.usefixtures("any_port")
class TestCommands:
    def test_start_with_wrong_files_is_refused_in_one_line_with_status_2(self, data):
        write(data, CLUB_TRUC.replace("[1, 2, 4]", "[4]"))
        write(data, "name = 1", "other.toml")
        told = call(data, "run")
        assert (told.exit_code, told.stdout, told.stderr.count("\n")) == (2, "", 1)
        assert told.stderr.startswith(
            "truc-server: variants/club-truc.toml: ladder: expected two or more rising stakes, got [4];"
            " variants/other.toml: "
        )
        assert not data.identity.exists()

    def test_check_names_the_games(self, data):
        told = call(data, "check")
        assert (told.exit_code, "ok     variants: club-truc\n" in told.stdout) == (0, True)
        assert "\nnote   club-truc" not in told.stdout
        remove(data)
        assert "ok     variants: none of your own\n" in call(data, "check").stdout

    def test_check_notes_words_that_no_client_knows_and_tells_what_is_wrong(self, data):
        write(data, CLUB_TRUC.replace("version", 'words = "klingon"\nversion'))
        told = call(data, "check")
        (note,) = [line for line in told.stdout.splitlines() if line.startswith("note   club-truc")]
        assert told.exit_code == 0
        assert note.startswith("note   club-truc: words: expected one of catalan, ")
        assert note.endswith(', got "klingon"; told in plain words')
        write(data, CLUB_TRUC.replace("[1, 2, 4]", "[4]"))
        wrong = "variants/club-truc.toml: ladder: expected two or more rising stakes, got [4]"
        assert f"wrong  {wrong}\n" in call(data, "check").stdout


async def test_hello_and_log_list_it_and_its_rule_document_can_be_asked_for_like_any(data):
    games = {name: preset(name) for name in presets()} | {"club-truc": CLUB}
    with capture_logs() as logged:
        async with running(data.root) as server:
            client = await guest(server)
            replies = {name: await client.ask({"t": "rules", "variant": name}) for name in games}
            unknown = await client.ask({"t": "rules", "variant": "poker"})
    assert [entry["names"] for entry in logged if entry["event"] == "own_games"] == ["club-truc"]
    assert client.info["variants"][-1] == {"name": "club-truc", "seats": [2, 4]}
    told = {name: reply["doc"] for name, reply in replies.items()}
    assert told == {name: rule_document(game) for name, game in games.items()}
    assert (unknown["code"], unknown["field"]) == ("no_such_variant", "variant")


async def test_tables_of_it_are_listed_by_its_name_with_their_options(data):
    async with running(data.root) as server:
        seat = await server.seat()
        await seat.create("club-truc")
        await seat.create("club-truc", options={"target": 7})
        reply = await seat.client.ask({"t": "tables", "variant": "club-truc"})
    changed = replace(CLUB, scoring=replace(CLUB.scoring, target=7))
    assert {table["rules"] for table in reply["tables"]} == {
        sha256(rule_document(game)) for game in (CLUB, changed)
    }


def transcript(seat) -> bytes:
    return write_transcript(seat.document, seat.records)


@pytest.mark.slow
@pytest.mark.parametrize("happens", [remove, change])
async def test_match_goes_on_although_its_file_is_gone_or_another(data, happens):
    async with running(data.root) as server:
        seats = await server.match(2, "club-truc", options={"target": 3})
        await play_until_stopped(server, seats, lambda seat: seat.next >= 9)
    happens(data)
    async with running(data.root) as server:
        await come_back(server, *seats)
        await give_up(seats)
    verdicts = [verify(transcript(seat)) for seat in seats]
    assert {(verdict.result, verdict.variant) for verdict in verdicts} == {(Result.PROVEN, "club-truc")}
    assert read_document(seats[0].document) == replace(CLUB, scoring=replace(CLUB.scoring, target=3))


def as_an_older_version_stored_it(data) -> None:
    sql(data.database, "UPDATE tables SET document = NULL")


@pytest.mark.slow
@pytest.mark.parametrize("happens", [remove, change, as_an_older_version_stored_it])
async def test_table_nobody_started_keeps_the_rules_it_was_opened_with(data, happens):
    async with running(data.root) as server:
        await server.seats(2, "club-truc", options={"match": 3})
    happens(data)
    async with running(data.root) as server:
        client = await guest(server)
        reply = await client.ask({"t": "tables"})
    assert reply["tables"][0]["rules"] == sha256(rule_document(replace(CLUB, match=3)))


@pytest.mark.slow
async def test_rematch_after_its_file_is_gone_is_played_by_the_same_rules(data):
    async with running(data.root) as server:
        seats = await server.match(2, "club-truc", options={"target": 3})
        await give_up(seats)
    first = seats[0].document
    remove(data)
    async with running(data.root) as server:
        for seat in seats:
            await come_back(server, seat)
            seat.done, seat.document = False, b""
            await seat.ready()
        await give_up(seats)
    assert (seats[0].document, verify(transcript(seats[0])).result) == (first, Result.PROVEN)
