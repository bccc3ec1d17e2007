"""A server process whose disk takes no more: it says so in one line, and ends with status 1."""

import resource
import sqlite3
import sys
from contextlib import closing

import pytest
import trio
from chaos.servers import QUICK, serving
from server.rawclient import GoneError, RawClient

pytestmark = pytest.mark.slow
ROOM = 400_000  # bytes that a file may have: the database fits, its log soon does not
SETTINGS = {
    **QUICK,
    "TRUC_MATCH_GUESTS": "4",
    "TRUC_LIMITS_TABLES_PER_PLAYER": "500",
    "TRUC_LIMITS_SEATS_PER_PLAYER": "500",
}


async def filled(port: int) -> tuple[set[str], dict]:
    """Make tables until the server says goodbye; return those that it has acknowledged, and the goodbye."""
    made = set()
    client = RawClient(await trio.open_tcp_stream("127.0.0.1", port))
    try:
        await client.login_guest()
        while len(made) < 2_000:
            reply = await client.ask({"t": "create", "variant": "truc-french"})
            assert reply["t"] == "ok", reply
            made.add(reply["table"])
    except GoneError:
        pass
    finally:
        await trio.aclose_forcefully(client.stream)
    return made, client.log[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="bounds the files of another process")
async def test_full_disk_ends_the_process_with_one_line_and_all_that_it_acknowledged(tmp_path):
    async with serving(tmp_path / "data", SETTINGS, level="error") as server:
        resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (ROOM, ROOM))
        made, goodbye = await filled(server.port)
        status = await server.wait()
    with closing(sqlite3.connect(server.data / "truc.db")) as database:
        stored = {code for (code,) in database.execute("SELECT code FROM tables")}
    (said,) = server.warnings()
    assert (goodbye["code"], status) == ("internal", 1)
    assert said.startswith("truc-server: ")
    assert made
    assert made <= stored
