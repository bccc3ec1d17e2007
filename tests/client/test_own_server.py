"""A match belongs to the server that it was begun at: no other can have it gone on with, touched or stopped."""

import pytest
from client.playing import come_back, leave_at_turn

from truc_client import CheckFailedError, ClientError
from truc_client.home.transcripts import path_of
from truc_protocol.messages import Ok, SeatHeld


async def begun_at_one(scripted, player):
    """Begin a match at one server and let another say that it is played there; returns both."""
    own, foreign = scripted(target=4), scripted(target=4, seed=2)
    await leave_at_turn(own, player)
    foreign.held = lambda: (SeatHeld(table="TABLE", match=own.setup.match, seat=0),)

    async def resume(message) -> None:
        await foreign.send(own.setup)
        await foreign.send(Ok(re=message.id, k=0))

    foreign.resume = resume
    return own, foreign


async def refused_at(foreign, player) -> ClientError:
    with pytest.raises(ClientError) as refused:
        await come_back(foreign, player, address="foreign")
    return refused.value


async def test_match_of_another_server_is_refused_and_goes_on_at_its_own(scripted, player):
    own, foreign = await begun_at_one(scripted, player)
    path = path_of(player.home.transcripts, own.setup.match)
    path.write_bytes(path.read_bytes()[:-3])  # torn, which would be mended at its own
    before = path.read_bytes()
    refused = await refused_at(foreign, player)
    assert not isinstance(refused, CheckFailedError)
    assert "begun at another server" in str(refused)
    assert (list(player.home.evidence.iterdir()), path.read_bytes()) == ([], before)
    seen = await come_back(own, player)
    assert seen[-1].verdict.result == "proven"


async def test_match_of_another_server_is_refused_when_its_transcript_is_gone(scripted, player) -> None:
    own, foreign = await begun_at_one(scripted, player)
    path_of(player.home.transcripts, own.setup.match).unlink()
    assert "begun at another server" in str(await refused_at(foreign, player))


@pytest.mark.parametrize("is_kept", [True, False])
async def test_guest_is_not_seated_in_a_match_of_another_server(scripted, guest, is_kept) -> None:
    own, foreign = await begun_at_one(scripted, guest)
    if not is_kept:
        path_of(guest.home.transcripts, own.setup.match).unlink()
    assert "another key than this server shows" in str(await refused_at(foreign, guest))
