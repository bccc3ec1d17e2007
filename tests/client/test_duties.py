"""What a client with a key owes itself: what is on the disk at the moment something leaves."""

import pytest
import trio
import trio.testing
from client.playing import at_table, body_of, play_on, received, rows_kept
from rows import each_row

from truc_client import Address, ConnectError
from truc_client.home.account import open_account
from truc_client.line.dialing import dial_tcp
from truc_client.line.login import Visit, enter
from truc_protocol.bodies import Ack, Act, Release, SeatTaken
from truc_protocol.codec import sha256
from truc_protocol.messages import SignedAct


def on_disk(home, column: str, value: bytes) -> tuple:
    """Return a match's nonce, the secrets of its chain and its id."""
    query = (
        "SELECT tn, root, secret, mid FROM matches LEFT JOIN chains ON chains.match = matches.th"
        f" WHERE {column} = ?"
    )
    (row,) = rows_kept(home, query, value)
    return row


async def watched(server, player, look) -> list:
    """Play a match; returns what `look` saw when each signed body came in."""
    seen: list = []
    honest = server.act

    async def act(message) -> None:
        if isinstance(message, SignedAct):
            seen.append(look(message, body_of(message)))
        await honest(message)

    server.act = act
    async with at_table(server, player) as table:
        await play_on(table)
    return seen


async def test_bodies_and_secrets_are_on_the_disk_before_anything_is_sent(server, player):

    def look(message, body) -> tuple:
        row = on_disk(player.home, "th", body.th) if isinstance(body, SeatTaken) else None
        return body, (message.body,) in rows_kept(player.home, "SELECT body FROM statements"), row

    seen = await watched(server, player, look)
    assert {type(body) for body, *_ in seen} == {SeatTaken, Release, Act, Ack}
    assert all(is_on_disk for _, is_on_disk, _ in seen)
    first, _, (tn, root, secret, _) = seen[0]
    assert first.th == sha256(server.terms.record[1])
    assert (len(tn), len(root), len(secret)) == (32, 32, 32)
    sent = b"".join(message.body for message in received(server, SignedAct))
    assert not any(each in sent for each in (root, secret))
    # after the end the nonce is left, which must not serve again
    assert on_disk(player.home, "mid", server.setup.match) == (tn, None, None, server.setup.match)


async def answered(player, answer: bytes | None) -> str:
    """Return what a client says of a peer that answers like this."""
    client, server = trio.testing.memory_stream_pair()
    account = open_account(player)
    if answer is not None:
        await server.send_all(answer)
    with pytest.raises(ConnectError) as failed:
        await enter(client, Visit(Address("host"), account, dial_tcp))
    account.store.close()
    return str(failed.value)


@each_row(
    "answer, said",
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no Truc server answers at this address: it speaks HTTP"),
        (b"220 mail ready\r\n", "it sends plain text"),
        (b"\x00\x00\x00\x05garba", "broke the protocol"),
        (None, "host:7373 does not answer"),
    ],
)
async def test_peer_that_is_none_of_ours_is_told_in_one_line(player, autojump_clock, answer, said) -> None:
    told = await answered(player, answer)
    assert (said in told, "\n" in told) == (True, False)
