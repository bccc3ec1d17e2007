from pathlib import Path

import pytest
from client.running import Process, run
from protocol.peers import Table
from rows import each_row

from truc_rules import preset, presets, with_options
from truc_terminal.commands.output import FailedError


@pytest.fixture(scope="module")
def match() -> Table:
    return Table(with_options(preset("truc-french"), {"target": 3, "match": 1})).run()


@pytest.fixture
def transcript(match, tmp_path) -> Path:
    path = tmp_path / "match.truc"
    path.write_bytes(match.file())
    return path


def flipped(match: Table) -> bytes:
    """Return a match with a signature that is none."""
    file = match.file()
    at = file.rindex(match.records[-3].sig)
    return file[:at] + bytes([file[at] ^ 1]) + file[at + 1 :]


@each_row(
    "content, verdict",
    [
        (lambda match: match.file(), (0, "PROVEN", "assurance level A")),
        (flipped, (1, "REFUTED: record", "C3")),
        (lambda _match: b"something else", (2, "UNREADABLE")),
        (lambda _match: Table("truc-french").to("hand").file(), (3, "INCOMPLETE")),
    ],
)
def test_status_of_verify_is_that_of_the_verdict(truc, match, tmp_path, content, verdict) -> None:
    (tmp_path / "a.truc").write_bytes(content(match))
    told, (status, *words) = truc("verify", tmp_path / "a.truc"), verdict
    assert (told.exit_code, [word for word in words if word not in told.output]) == (status, [])


def test_verify_of_several_files_ends_with_the_worst(truc, transcript, tmp_path) -> None:
    (tmp_path / "x").write_text("something else")
    assert truc("verify", transcript, tmp_path / "x", transcript).exit_code == 2


def rested(*, asked: bool) -> bytes:
    """Return a match that rested, and went on because everybody asked for it or because it was long enough."""
    table = Table(with_options(preset("truc-french"), {"target": 3, "match": 1})).to("hand").rest()
    for seat in (0, 1) if asked else ():
        table.add(table.act(seat, "resume"))
    table.add(table.rule("resume"))
    return table.run().file()


@pytest.mark.parametrize(
    ("asked", "ground"),
    [
        (True, "every player had asked for it, as the records show"),
        (False, "the server's word that time ran out, not proven"),
    ],
)
def test_verify_tells_a_resume_that_was_asked_for_from_one_by_time(truc, tmp_path, asked, ground) -> None:
    (tmp_path / "rested.truc").write_bytes(rested(asked=asked))
    told = truc("verify", str(tmp_path / "rested.truc")).output
    assert "ruling pause: every player had asked for it, as the records show\n" in told
    assert f"ruling resume: {ground}\n" in told


def test_rules_lists_every_game(truc) -> None:
    told = truc("rules").output.splitlines()
    assert [line.split()[0] for line in told if line.startswith("  ")] == list(presets())
    put = "52 cards; the three is on top (2 players, 52 cards, to 5, one game)"
    assert f"  put                    {put}" in told


@each_row(
    "command, else_",
    [
        (("rules", "poker"), "for a server's own games use --from ADDRESS"),
        (("demo", "--variant", "poker"), "its file, NAME.toml"),
    ],
)
def test_unknown_game_is_answered_in_one_line_with_where_others_stand(truc, command, else_) -> None:
    told = truc(*command)
    assert (told.exit_code, told.stderr.strip().count("\n")) == (1, 0)
    expected = 'expected the name of a preset (see `truc rules`), got "poker"'
    assert told.stderr.startswith(f"truc: no such game: {expected}")
    assert else_ in told.stderr


def test_key_goes_from_one_home_to_another(truc, tmp_path, monkeypatch) -> None:
    assert "no key yet" in truc("keys", "show").output
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home" / "master.seed").write_bytes(bytes(range(32)))
    text = truc("keys", "export").stdout
    assert truc("keys", "export", "--out", str(tmp_path / "key")).exit_code == 0
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "other"))
    assert truc("keys", "import", "-", input=text).exit_code == 0
    assert (tmp_path / "other" / "master.seed").read_bytes() == bytes(range(32))


@each_row(
    "arguments, said",
    [
        (("play", "127.0.0.1:1"), "cannot reach 127.0.0.1:1: Connection refused"),
        (("tables", "127.0.0.1:1"), "cannot reach 127.0.0.1:1: Connection refused"),
        (("bot", "127.0.0.1:1"), "cannot reach 127.0.0.1:1: Connection refused"),
        (("play", "http://host"), "expected a link that starts with truc://"),
        (("play", "truc://host#short"), "expected a fingerprint"),
        (("play",), "expected the ADDRESS of a server"),
        (("bot", "host", "--option", "nonsense"), "expected NAME=VALUE"),
        (("bot", "host", "--name", "../x"), "expected a name that can also name a folder"),
        (("demo", "--option", "foo=1"), "no such table option: expected decision_ms, "),
        (("demo", "--option", "taget=6"), "no such table option: expected target, got taget"),
        (("demo", "--option", "target=7777"), "target: expected at most 1000, got 7777 (bad_option)"),
        (
            ("demo", "--option", "decision_ms=5"),
            "decision_ms: expected 0 or 1000 to 86400000, got 5 (bad_option)",
        ),
        (("demo", "--option", "guests=9"), "guests: expected 0 to 2, got 9 (bad_option)"),
        (("demo", "--seats", "3"), "truc-catalan is for 2/4 players, not for 3"),
        (
            ("demo", "--seats", "2", "--variant", "truc-partnership"),
            "truc-partnership is for 4 players, not for 2",
        ),
        (("watch", "host"), "expected the link of a table, or its code after the address"),
        (("forget", "127.0.0.1:1", "--yes"), "no key yet: at 127.0.0.1:1 there is nobody to forget"),
        (("forget", "127.0.0.1:1", "--yes", "--guest"), "no guest at 127.0.0.1:1: there is nobody to forget"),
        (("keys", "export"), "there is no key"),
        (("keys", "forget", "host"), "host is not known"),
    ],
)
def test_failure_is_one_line_and_status_1(truc, arguments, said) -> None:
    told = truc(*arguments)
    last = told.stderr.strip().splitlines()[-1]
    assert (told.exit_code, told.stdout) == (1, "")
    assert last.startswith("truc: ")
    assert said in last


def test_first_server_that_answers_brings_a_key_and_what_losing_it_means(truc, real_server) -> None:
    told = [truc("tables", address).stderr for address in ("127.0.0.1:1", real_server.url)]
    assert ["whoever loses it loses seats and rating" in each for each in told] == [False, True]
    assert (
        f"{real_server.url}: first contact; its key {real_server.address.fingerprint} is remembered\n"
        in told[1]
    )
    assert "first contact" not in truc("tables", real_server.url).stderr


@pytest.mark.slow
def test_script_plays_against_a_bot_by_typing_numbers(real_server, tmp_path) -> None:
    bot = ("bot", real_server.url, "--create", "truc-french", "--option", "match=1", "--option", "target=4")
    with Process(tmp_path / "bot", *bot) as waiting:
        playing = ("play", real_server.url, "--table", waiting.code(), "--name", "north")
        told = run(tmp_path / "home", *playing, typed="?\n" + "11\n1\n2\n3\n4\n5\n" * 100)
    assert told.returncode == 0
    assert "PROVEN" in told.stdout
    assert "resign: give the match up." in told.stdout


def test_unknown_table_is_one_line_and_status_1(truc, real_server) -> None:
    told = truc("bot", f"truc://{real_server.address.place}/NOPE1")
    assert told.exit_code == 1
    assert told.stderr.strip().splitlines()[-1].endswith("(no_such_table)")


def test_failure_never_writes_control_characters_to_the_terminal() -> None:

    assert FailedError("a\x1b[2Jb\nc").message == "a[2Jbc"
