"""Where the disk is nearly full nothing new begins, and what runs goes on."""

from types import SimpleNamespace

import pytest
import trio
from rows import each_row
from server.conftest import PATIENT, holder_of, in_hand, running
from server.stored import sql
from server.visitors import FRENCH, guest
from structlog.testing import capture_logs

from truc_server.operation import disk as disk_module
from truc_server.operation.disk import LOOK_S, MB, Disk, free_bytes
from truc_server.settings.in_force import CurrentValue
from truc_server.settings.settings import Settings, StoreSettings


@pytest.fixture
def statvfs(monkeypatch):
    """Put figures of the test in the place of the disk's."""
    figures = SimpleNamespace(f_bavail=1_000_000, f_frsize=4_096, fails=False)

    def fake(_folder):
        if figures.fails:
            raise OSError(5, "Input/output error")
        return figures

    monkeypatch.setattr(disk_module.os, "statvfs", fake)
    return figures


def fill(figures, free_mb: int) -> None:
    figures.f_bavail = free_mb * MB // figures.f_frsize


class TestDisk:
    @each_row(
        "database, free_mb, is_nearly_full",
        [
            (StoreSettings(), 63, True),
            (StoreSettings(), 65, False),
            (StoreSettings(spare_mb=0), 0, False),
            (StoreSettings(url="postgresql://elsewhere"), 0, False),
        ],
    )
    async def test_is_nearly_full_where_less_is_free_than_is_to_be_spared(
        self, tmp_path, statvfs, database, free_mb, is_nearly_full
    ):
        fill(statvfs, free_mb)
        disk = Disk(tmp_path, CurrentValue(Settings(store=database)))
        await disk.look()
        assert disk.is_nearly_full is is_nearly_full

    async def test_log_has_each_change_once(self, tmp_path, statvfs):
        disk = Disk(tmp_path, CurrentValue(Settings()))
        with capture_logs() as logged:
            for free_mb in (100, 10, 9, 100, 100):
                fill(statvfs, free_mb)
                await disk.look()
        assert [entry["event"] for entry in logged] == ["disk_nearly_full", "disk_has_room"]

    async def test_disk_that_cannot_be_looked_at_is_as_it_was(self, tmp_path, statvfs):
        disk = Disk(tmp_path, CurrentValue(Settings()))
        fill(statvfs, 1)
        await disk.look()
        statvfs.fails = True
        await disk.look()
        assert disk.is_nearly_full

    def test_free_bytes_are_those_of_this_user(self, tmp_path, statvfs):
        statvfs.f_bavail, statvfs.f_bfree = 3, 99
        assert free_bytes(tmp_path) == 3 * 4_096


class TestServer:
    @pytest.fixture
    async def server(self, path, statvfs):
        async with running(path, PATIENT) as server:
            yield server

    @pytest.fixture
    def gets_full(self, statvfs, mock_clock):
        """Return what fills the disk while a server runs: for tests that ask for the clock too, as Trio's plugin wants."""

        async def full(free_mb: int = 1) -> None:
            fill(statvfs, free_mb)
            with capture_logs() as logged:
                mock_clock.jump(LOOK_S)
                while not any(entry["event"].startswith("disk_") for entry in logged):
                    await trio.lowlevel.checkpoint()

        return full

    async def test_running_match_goes_on(self, server, gets_full, mock_clock):
        holder, _ = holder_of(await in_hand(server))
        await gets_full()
        await holder.act(holder.act_message(holder.options, holder.offered[0]))
        assert (await holder.client.until("ok"))["k"] == holder.next

    async def test_no_table_is_made_and_no_match_begun_until_there_is_room(
        self, server, gets_full, mock_clock
    ):
        client, seats = await guest(server), await server.seats(2)
        await seats[0].ready()
        await gets_full()
        reply = await client.ask(FRENCH)
        assert (reply["code"], reply["close"]) == ("too_many_tables", False)
        assert (await seats[1].ready())["code"] == "too_many_tables"
        await gets_full(100)
        assert ((await client.ask(FRENCH))["t"], (await seats[1].ready())["t"]) == ("ok", "ok")

    async def test_disk_that_is_nearly_full_at_the_start_is_seen_before_anybody_comes(self, path, statvfs):
        fill(statvfs, 1)
        async with running(path, PATIENT) as server:
            client = await guest(server)
            assert (await client.ask(FRENCH))["code"] == "too_many_tables"

    async def test_match_that_had_not_begun_waits_for_room_after_a_restart(self, path, statvfs):
        async with running(path, PATIENT) as server:
            await server.match(2)
        sql(path / "truc.db", "DELETE FROM terms")  # so that they would have to be made again
        fill(statvfs, 1)
        async with running(path, PATIENT) as server:
            client = await guest(server)
            (table,) = (await client.ask({"t": "tables"}))["tables"]
        assert (table["state"], [seat.get("ready", False) for seat in table["seats"]]) == (
            "open",
            [False] * 2,
        )
