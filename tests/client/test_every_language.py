"""What a player reads while playing is of the catalogues: commands and screens run through the language for tests.

What stands outside of its brackets and is no datum was written in the code, so that nobody can translate it.
"""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from client.playing import know
from client.pseudo import LANG, unsaid, words_of
from client.running import truc as command
from client.test_screen import FOUR, STATE, TURN
from client.viewed import printed, screen_of, seen, started
from msgspec.structs import replace
from rows import each_row

from truc_client import TableGone, happenings, open_home
from truc_client.errors import CheckFailedError, ChoiceError, KeptEvidence, RefusedError, StoppedError
from truc_client.home.home import Home, master_seed
from truc_client.matches.signer import NOT_HERE
from truc_conform.shown import table_state
from truc_protocol.crypto.keys import signing_key_from_seed
from truc_protocol.errors import Code
from truc_protocol.key_files import revocation_text
from truc_protocol.messages import SeatState, TableState
from truc_protocol.setup import Opts
from truc_protocol.wire.handshake import Pin, revoke
from truc_rules import preset
from truc_terminal.commands.in_person import tell_waiting
from truc_terminal.commands.tables import columns
from truc_terminal.main import main
from truc_terminal.screen.explaining import word_expected
from truc_words import Speech, catalogue

pytestmark = pytest.mark.usefixtures("spoken")
FIRST, STRANGER = (signing_key_from_seed(bytes([i]) * 32) for i in (1, 2))
SERVER = "127.0.0.1:1"
STARTED = started(players=FOUR, words="catalan", target=12)


@pytest.fixture
def truc(tmp_path, monkeypatch):
    """Return a way to run a command in the home of a player who knows a server."""
    home = open_home(tmp_path / "home")
    monkeypatch.setenv("TRUC_HOME", str(home.root))
    master_seed(home)
    know(home, SERVER, Pin(FIRST.public, STRANGER.public, 1))
    return lambda *words, text="": command(*words, "--lang", LANG, input=text).output


@each_row(
    "command",
    [
        *("keys show", "keys forget 127.0.0.1:1", "keys forget 127.0.0.1:2"),
        *("keys revocation 127.0.0.1:2", "forget 127.0.0.1:1 --guest", "play 127.0.0.1:1"),
        *("play 127.0.0.1:1 --guest", "play https://host", "play host --option x"),
        *("create host truc-french --option x", "join host", "tables 127.0.0.1:1", "bot 127.0.0.1:1"),
        *("bot 127.0.0.1:1 --name .", "demo --seats 9", "demo --teach --variant poker", "rules puts"),
        *("rules /nowhere.toml", "keys import /nowhere", "keys revoke /nowhere", "show /nowhere.truc"),
        "keys export --out /",
    ],
)
def test_command_says_nothing_of_its_own(truc, command) -> None:
    data = ("'x'", "https", '"poker"', '"puts"', r"\bput\b")
    assert unsaid(truc(*command.split()), data) == []


def test_games_of_a_server_say_nothing_of_their_own(truc, real_server) -> None:
    told = truc("rules", "--from", real_server.url)
    assert "truc-french" in told
    assert unsaid(re.sub(r"^\S+(?= +[\d/ ]+⟦)", "", told, flags=re.MULTILINE)) == []


@each_row(
    "command",
    [
        "play --rekey --guest host",
        "play --rekey --seats 4 host",
        "play --quick truc-french --private host",
        "play --table K7PQ --seats 4 host",
        "create",
        "create host truc-french --clock soon",
        "create host truc-french --reveal hand --option reveal=hand",
        "bot host --house --table K7PQ",
        "bot host --table K7PQ --create truc-french",
        "bot host --substitute --create truc-french",
        "bot host --table K7PQ --seats 2",
    ],
)
def test_command_called_wrongly_says_nothing_of_its_own_behind_the_usage(truc, command) -> None:
    wrong = truc(*command.split()).splitlines()[-1].partition(": ")[2]
    assert "⟦" in wrong
    assert unsaid(wrong, ["--[a-z]+", r"^.*'--clock': ", "SECONDS", "BANK", "none", "soon", "reveal"]) == []


def test_own_key_says_nothing_of_its_own(truc) -> None:
    assert unsaid(truc("keys", "import", "-", text="something"), ["truc player key"]) == []
    statement = truc("keys", "revocation", SERVER)
    assert unsaid(truc("keys", "revoke", "-", text=statement)) == []
    assert unsaid(truc("keys", "revoke", "-", text=revocation_text(revoke(FIRST)))) == []
    assert unsaid(truc("keys", "revoke", "-", text="something"), ["line 1: expected '.*'"]) == []


def test_first_use_and_question_say_nothing_of_their_own(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("TRUC_HOME", str(tmp_path / "new"))
    run = CliRunner().invoke
    first = run(main, ["play", SERVER, "--lang", LANG]).output
    assert not Home(tmp_path / "new").seed.exists()
    master_seed(Home(tmp_path / "new"))
    asked = run(main, ["forget", SERVER, "--lang", LANG], input="perhaps\n\n").output
    assert [unsaid(first), unsaid(asked, ["perhaps"])] == [[], []]
    assert first.count("⟦") > 1
    assert asked.count("⟦") > 3


def test_demo_says_nothing_of_its_own(truc) -> None:
    told = truc("demo", "--variant", "truc-french", "--style", "careless", "--name", "north")
    assert catalogue(LANG).results["proven"] in told
    names = (
        "bot 1",
        *FOUR,
        r"\b(?:10|[1-9JQKA])[hdcs]\b",
        r"\bok\b",
        r"\b[0-9a-f]{6}(?:\.html)?\b",
        "may: concede",
        r"concede(?= \()",
    )
    assert unsaid(re.sub(r"⟦you may type: ⟧.*", "", told), [*names, *words_of("french")]) == []


HAPPENINGS = (
    happenings.CardsDealt(("7e", "3b", "1o")),
    seen({"what": "hands_committed", "digests": [b"\xaa" * 32] * 4}),
    seen(STATE),
    TURN,
    TURN._replace(must=False),
    TURN._replace(again=True),
    happenings.PartnerCards(2, ("7e", "3b")),
    happenings.SignMade(2, "three"),
    happenings.PhraseSaid(2, "come"),
    happenings.ChatSaid("TAG", "north", "north"),
    happenings.MatchWaits((1,), None),
    happenings.MatchWaits((1, 2), None, "rekey"),
    happenings.MatchWaits((1,), None, "sub"),
    happenings.Interrupted(RefusedError("server_full", "east").args[0]),
    happenings.TranscriptSetAside(Path("/x.truc"), NOT_HERE),
    happenings.Resumed(4),
    happenings.SeatLost(0),
    happenings.Substituted(1, "west"),
    happenings.PresenceChanged(1, online=False, missed=1, claim_in_ms=7_000),
    happenings.PresenceChanged(1, online=False, missed=3, claim_in_ms=0),
    happenings.PresenceChanged(1, online=True, missed=0, claim_in_ms=None),
    happenings.PresenceChanged(0, online=True, missed=2, claim_in_ms=None),
    happenings.MatchContinued(({**STATE, "paused": True},)),
    seen({"what": "pause_asked", "seat": 1}),
    seen({"what": "card_played", "seat": 1, "card": "7o"}, {"what": "trick_won", "side": 1, "leader": 1}),
    seen({"what": "trick_tied", "leader": 0}, {"what": "hand_closed", "reason": "hand"}),
    TableGone("expired"),
)
SHOWN_AS_DATA = (
    *FOUR,
    "server_full",
    "TAG",
    r"\b\d+[oceb]\b",
    r"\bok\b",
    "raise 2, cut",
    r"play 7e, raise 2, cut",
)


@each_row("is_terminal", [False, True])
def test_screen_says_nothing_of_its_own(is_terminal) -> None:
    screen, out = screen_of(LANG, terminal=is_terminal, width=400, height=60)
    screen.show(STARTED)
    for happening in HAPPENINGS:
        screen.show(happening)
    screen.tell_mistake("north", TURN, {"play north": "not_held"}.get)
    for what, words in (("sign", screen.look.signs), ("phrase", screen.look.phrases)):
        screen.say(word_expected("north", words, what, screen.look.speech), "red")
    screen.show_score()
    screen.explain(TURN)
    screen.explain_one("north", TURN, {})
    shown = out.getvalue()
    assert shown.count("⟦") > 60
    explained = (r"^  (?:play 7e|raise 2|cut|.*\[(?:play 7e|raise 2|cut)\]): ",)
    assert unsaid(shown, [*SHOWN_AS_DATA, *explained, *words_of("catalan")]) == []


def seats(*kinds: str) -> tuple[SeatState, ...]:
    return tuple(
        SeatState(seat=seat, kind=kind, name=None if kind == "empty" else FOUR[seat], online=kind == "key")
        for seat, kind in enumerate(kinds)
    )


def table(*kinds: str, **changes) -> TableState:
    shown = table_state(preset("truc-french"), Opts(decision_ms=30_000, gone=1), len(kinds))
    return replace(shown, table="K7PQA", seats=seats(*kinds), **changes)


TABLES = (
    table("key", "empty", expires_ms=1_790_000),
    table("key", "guest", state="terms", expires_ms=1),
    table("key", "key", state="playing"),
    table("key", "guest", state="over"),
)


def test_list_of_tables_says_nothing_of_its_own() -> None:
    vacant = replace(TABLES[2], seats=(TABLES[2].seats[0], replace(TABLES[2].seats[1], vacant=True)))
    assert unsaid(printed(columns((*TABLES, vacant), Speech(LANG)), 200), FOUR) == []


@each_row("shown", TABLES)
def test_waiting_says_nothing_of_its_own(shown) -> None:
    screen, out = screen_of(LANG, width=400)
    screen.show(happenings.TableChanged(shown))
    tell_waiting(shown, screen, "truc://host/K7PQA", 75)
    assert unsaid(out.getvalue(), [*FOUR, "1 min"]) == []
    assert "⟦" in out.getvalue()


@each_row("code", [*Code, "unheard_of"])
def test_refusal_says_nothing_of_its_own(code) -> None:
    assert unsaid(str(RefusedError(code, "7 8 9")).in_language(LANG), [rf"\b{code}\b"]) == []


@each_row(
    "error",
    [
        CheckFailedError("C19", "9", "seat 1", KeptEvidence((Path("/a.truc"),), is_shown=True)),
        CheckFailedError("C33", "9", "server", KeptEvidence((Path("/a.truc"),), is_shown=False)),
        StoppedError("C19: 9", Path("/a.evidence")),
        StoppedError("C19: 9", None),
        ChoiceError(NOT_HERE),
    ],
)
def test_failure_says_nothing_of_its_own(error) -> None:
    assert unsaid(str(error).in_language(LANG)) == []
