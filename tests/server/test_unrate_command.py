"""`truc-server unrate`: what goes, what stays, and what is noted."""

import json
import stat

import pytest
from click.testing import CliRunner, Result
from server.stored import MATCH, TABLE

from truc_protocol.crypto.keys import fingerprint, signing_key_from_seed
from truc_server.main import main
from truc_server.storage import RatedPlayer, RateMatch
from truc_server.storage.sql import open_store

PUBLIC = signing_key_from_seed(b"p" * 32).public
OWN = fingerprint(PUBLIC)
OTHER = RatedPlayer(b"o" * 32, "TAG-OTHER", "Other")


@pytest.fixture
def call(data):
    def called(*arguments: str) -> Result:
        return CliRunner().invoke(main, ["unrate", "--data", str(data.root), *arguments])

    return called


@pytest.fixture
def store(data):
    """The store of a server that runs, with one match that was rated."""
    opened = open_store(f"sqlite:///{data.database}")
    opened.claim("the server")
    won = RateMatch(MATCH.mid, "truc-french", 2, (RatedPlayer(PUBLIC, OWN, "Pau"),), (OTHER,))
    opened.commit([TABLE, MATCH, won])
    yield opened
    opened.close()


@pytest.mark.parametrize("named", [OWN, OWN.lower(), PUBLIC.hex()])
def test_player_is_gone_from_the_board_and_the_match_stays(call, store, named):
    told = call(named)
    board = store.leaderboard("truc-french", 2, first=0, limit=9)
    assert told.stdout == f"{OWN} stands on no leaderboard any more: 1 rating is gone\n"
    assert [standing.rating.tag for standing in board] == ["TAG-OTHER"]
    assert store.match(MATCH.mid) is not None


def test_it_is_noted_for_the_owner_alone(call, store, data):
    call(OWN)
    (line,) = data.admin_log.read_text().splitlines()
    entry = json.loads(line)
    assert (entry["command"], entry["arguments"]) == ("unrate", {"subject": OWN, "ratings": 1})
    assert stat.S_IMODE(data.admin_log.stat().st_mode) == 0o600


def test_who_is_not_rated_is_an_error_and_not_noted(call, store, data):
    call(OWN)
    again = call(OWN)
    assert (again.exit_code, again.stderr) == (1, f"truc-server: {OWN} is not rated\n")
    assert len(data.admin_log.read_text().splitlines()) == 1


def test_what_is_no_key_is_an_error(call, store):
    assert "expected a fingerprint of 26 characters" in call("Pau").stderr
