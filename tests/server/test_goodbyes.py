"""Why a connection is ended is told in a last `bye`, also where no room is left for it; test_error_rows.py has the codes."""

from types import SimpleNamespace

import pytest
from server.admins import host_says, hosting
from server.watching import Held
from trio.testing import wait_all_tasks_blocked


async def kick(server, subject) -> None:
    await host_says(server.folder, command="kick", subject=subject)


async def ban(server, subject) -> None:
    await host_says(server.folder, command="ban", subject=subject)


async def drain(server, _subject) -> None:
    server.host.drain.set()


@pytest.mark.parametrize(
    ("end", "code"),
    [(kick, "kicked"), (ban, "banned"), (drain, "shutting_down")],
    ids=["kick", "ban", "drain"],
)
async def test_last_word_has_its_reason_where_no_room_was_left_for_it(path, monkeypatch, end, code):
    held = Held(monkeypatch)
    async with hosting(path) as server:
        client = await server.connect()
        welcome = await client.login_guest()
        held.hold(SimpleNamespace(client=client))
        await client.send({"t": "rules", "variant": "truco-argentino"})
        await wait_all_tasks_blocked()
        held.leave_no_room(SimpleNamespace(client=client))
        await end(server, welcome["player"])
        await wait_all_tasks_blocked()
        held.release(SimpleNamespace(client=client))
        assert [(last["t"], last["code"]) for last in (await client.closed())[-1:]] == [("bye", code)]
