"""A match belongs to the server that it was begun at: no other can have it gone on with, touched or stopped."""

import pytest
from client.playing import come_back, my_turn, play_on

from truc_client import CheckFailedError, ClientError, connect
from truc_client.home.transcripts import path_of
from truc_protocol.messages import Ok, SeatHeld


@pytest.fixture
def play_at_one(scripted):
    """Return a way to begin a match at one server and let another say that it is played there."""

    async def begin(player):
        own, foreign = scripted(target=4), scripted(target=4, seed=2)
        async with connect("own", player, dial=own.dial) as connection:
            table = await connection.create("truc-french")
            await table.ready()
            await play_on(table, until=my_turn)
        mid = own.setup.match
        foreign.held = lambda: (SeatHeld(table="TABLE", match=mid, seat=0),)

        async def resume(message) -> None:
            await foreign.send(own.setup)
            await foreign.send(Ok(re=message.id, k=0))

        foreign.resume = resume
        return own, foreign

    return begin


async def refused_at(foreign, player) -> ClientError:
    with pytest.raises(ClientError) as refused:
        await come_back(foreign, player, address="foreign")
    return refused.value


async def test_match_of_another_server_is_refused_and_goes_on_at_its_own(play_at_one, player):
    own, foreign = await play_at_one(player)
    path = path_of(player.home.transcripts, own.setup.match)
    path.write_bytes(path.read_bytes()[:-3])  # torn, which would be mended at its own
    before = path.read_bytes()
    refused = await refused_at(foreign, player)
    assert not isinstance(refused, CheckFailedError)
    assert "begun at another server" in str(refused)
    assert (list(player.home.evidence.iterdir()), path.read_bytes()) == ([], before)
    seen = await come_back(own, player, address="own")
    assert seen[-1].verdict.result == "proven"


async def test_match_of_another_server_is_refused_when_its_transcript_is_gone(play_at_one, player) -> None:
    own, foreign = await play_at_one(player)
    path_of(player.home.transcripts, own.setup.match).unlink()
    assert "begun at another server" in str(await refused_at(foreign, player))


@pytest.mark.parametrize("is_kept", [True, False])
async def test_guest_is_not_seated_in_a_match_of_another_server(play_at_one, guest, is_kept) -> None:
    own, foreign = await play_at_one(guest)
    if not is_kept:
        path_of(guest.home.transcripts, own.setup.match).unlink()
    assert "another key than this server shows" in str(await refused_at(foreign, guest))
