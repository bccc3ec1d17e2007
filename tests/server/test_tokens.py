"""Guests are found by their tokens, all that have come meanwhile at once."""

import pytest
import trio
import trio.testing

from truc_server.storage import SaveGuest, StoreError
from truc_server.storage.guest_tokens import GuestTokens

PAU, NEUS = (SaveGuest(name, name.decode(), name * 8, 0) for name in (b"Pau", b"Neus"))


class Reads:
    """A store of these two guests; what is looked for at once, and whether it can be read."""

    def __init__(self) -> None:
        self.asked: list[set[bytes]] = []
        self.fails: Exception | None = None

    def guests_by_tokens(self, hashes) -> dict[bytes, SaveGuest]:
        self.asked.append(set(hashes))
        if self.fails is not None:
            raise self.fails
        return {guest.token_hash: guest for guest in (PAU, NEUS) if guest.token_hash in hashes}


async def answers(tokens: GuestTokens, *hashes: bytes) -> list[SaveGuest | str | None]:
    """Return what each is answered, who have all asked before anything is looked for; in their order."""
    found: dict[bytes, SaveGuest | str | None] = {}

    async def ask(token_hash: bytes) -> None:
        try:
            found[token_hash] = await tokens.guest(token_hash)
        except StoreError as error:
            found[token_hash] = str(error)

    async with trio.open_nursery() as running:
        async with trio.open_nursery() as asking:
            for token_hash in hashes:
                asking.start_soon(ask, token_hash)
            await trio.testing.wait_all_tasks_blocked()
            running.start_soon(tokens.run)
        running.cancel_scope.cancel()
    return [found[token_hash] for token_hash in hashes]


async def test_all_who_have_come_meanwhile_are_looked_for_at_once():
    reads = Reads()
    wanted = [PAU.token_hash, b"nobody's", NEUS.token_hash]
    assert await answers(GuestTokens(reads), *wanted) == [PAU, None, NEUS]
    assert reads.asked == [set(wanted)]


async def test_more_than_are_looked_for_at_once_are_all_answered(monkeypatch):
    monkeypatch.setattr("truc_server.storage.guest_tokens.MAX_AT_ONCE", 1)
    reads = Reads()
    assert await answers(GuestTokens(reads), PAU.token_hash, NEUS.token_hash) == [PAU, NEUS]
    assert len(reads.asked) == 2


@pytest.mark.parametrize(
    ("failure", "said"),
    [
        (StoreError("the disk is gone"), "the disk is gone"),
        (KeyError(), "the store has failed in an unforeseen way"),
    ],
)
async def test_store_that_cannot_be_read_fails_those_who_asked_and_no_others(failure, said):
    reads = Reads()
    tokens, wanted = GuestTokens(reads), (PAU.token_hash, NEUS.token_hash)
    reads.fails = failure
    assert await answers(tokens, *wanted) == [said, said]
    reads.fails = None
    assert await answers(tokens, *wanted) == [PAU, NEUS]
