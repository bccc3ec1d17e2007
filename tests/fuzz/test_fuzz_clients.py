"""Whole clients over lines that bend what a server says, for a moment.

The long form is `PYTHONPATH=tests:docs python -m fuzz clients --seconds 600`.
"""

import random

import pytest
from chaos.servers import serving
from chaos.stored import ViolationError
from fuzz.bending import Bending
from fuzz.clients import SETTINGS, Fuzzer
from fuzz.mischief import Booty

from truc_conform.raw_client import frame


@pytest.mark.slow
async def test_clients_come_to_the_proven_end_of_their_match_whatever_the_line_did(tmp_path):
    async with serving(tmp_path / "data", SETTINGS) as server:
        fuzzer = Fuzzer(server, tmp_path, seed=1)
        await fuzzer.run(seconds=60, count=3)
        assert await server.stop() == []
    assert (fuzzer.figures["sessions"], fuzzer.figures["proven"]) == (3, 6)


@pytest.mark.slow
async def test_fault_of_the_client_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr("truc_client.table_session.TableSession._show", lambda *_: 1 / 0)
    async with serving(tmp_path / "data", SETTINGS) as server:
        with pytest.raises(ViolationError, match=r"(?s)seed 1, session 0: seat .*ZeroDivisionError"):
            await Fuzzer(server, tmp_path, seed=1).run(seconds=60, count=1)


def test_a_guest_s_token_is_never_bent():
    welcome = frame({"t": "welcome", "re": 2, "name": "Gus", "player": "guest-A", "token": "T", "seats": []})
    bending = Bending(random.Random(3), Booty(), 1.0)
    assert {bending.mangle(welcome) for _ in range(40)} == {welcome}
