"""What a node believes of where tables are, and for how long; and what it tells those who were sent to it in vain."""

import pytest
import trio

from truc_protocol.errors import Code
from truc_protocol.messages import Join, ListTables
from truc_server.cluster.node_links import AGAIN_MS
from truc_server.cluster.routing import CACHE_S, MAX_CACHED, BroughtRequests, StoreDirectory, VainLookups
from truc_server.net.peer import TooSoonError
from truc_server.storage import TableOwner

ONE = TableOwner("one", "one.example:7373", "/run/one")


class Finding:
    """A store that has the owners of tables, and counts who asks."""

    def __init__(self, **owners: TableOwner) -> None:
        self.owners = owners
        self.asked: list[str] = []

    def __call__(self, code: str) -> TableOwner | None:
        self.asked.append(code)
        return self.owners.get(code)


async def test_store_is_asked_once_in_a_moment_also_for_what_it_has_not(mock_clock):
    find = Finding(HERE=ONE)
    directory = StoreDirectory(find)
    for _ in range(3):
        assert await directory.owner_of("HERE") == ONE
        assert await directory.owner_of("NONE") is None
    assert find.asked == ["HERE", "NONE"]
    find.owners = {"NONE": ONE}
    mock_clock.jump(CACHE_S)
    assert [await directory.owner_of(code) for code in ("HERE", "NONE")] == [None, ONE]


async def test_little_is_kept_however_many_codes_are_asked_for(monkeypatch, mock_clock):
    async def at_once(work, *given):
        return work(*given)

    monkeypatch.setattr(trio.to_thread, "run_sync", at_once)
    directory = StoreDirectory(Finding())
    for number in range(MAX_CACHED + 10):
        await directory.owner_of(str(number))
    assert len(directory) == MAX_CACHED


async def test_what_was_believed_is_over_before_anybody_asks_again():
    assert CACHE_S * 1_000 < AGAIN_MS


async def test_request_that_was_brought_goes_no_further_and_is_asked_again():
    word = BroughtRequests(StoreDirectory(Finding(GONE=ONE)), patience_s=15)
    with pytest.raises(TooSoonError) as told:
        await word.take(None, Join(id=1, table="gone"))
    assert (told.value.code, told.value.wait_ms) == (Code.RATE_LIMITED, AGAIN_MS)
    assert not await word.take(None, Join(id=1, table="NONE"))
    assert not await word.take(None, ListTables(id=1))


async def test_table_that_does_not_come_is_none_until_it_is_asked_for_anew(mock_clock):
    """One that could not be restored is stored, and nobody has it: who asks is not to wait for ever."""
    awaited = VainLookups(patience_s=15)

    def is_awaited() -> bool:
        try:
            awaited.check("LOST")
        except TooSoonError:
            return True
        return False

    asked = []
    for _ in range(18):
        asked.append(is_awaited())
        mock_clock.jump(1)
    assert asked == [True] * 16 + [False] * 2
    mock_clock.jump(16)
    assert is_awaited()
