"""Players who are not in a match: guests and keys that log in, and what has come to them."""

from server.rawclient import RawClient
from trio.testing import wait_all_tasks_blocked

from truc_protocol.crypto import keys
from truc_protocol.crypto.keys import SigningKey

FRENCH = {"t": "create", "variant": "truc-french"}


async def table_of(client: RawClient, **fields) -> str:
    """Make a table, and return its code."""
    return (await client.ask({**FRENCH, **fields}))["table"]


async def greeted(server) -> RawClient:
    """Return a connection that has said hello, and not logged in."""
    client = await server.connect()
    await client.hello()
    return client


async def guest(server, name="Gus") -> RawClient:
    """Return a guest who is logged in."""
    client = await server.connect()
    assert (await client.login_guest(name))["t"] == "welcome"
    return client


async def keyed(server, name="Kay", key: SigningKey | None = None) -> RawClient:
    """Return a player with a key who is logged in."""
    client = await server.connect()
    assert (await client.login_key(key or keys.generate_signing_key(), name))["t"] == "welcome"
    return client


async def hang_up(client: RawClient) -> None:
    """Close a connection, and let the server hear of it."""
    await client.stream.aclose()
    await wait_all_tasks_blocked()


async def goodbye(client: RawClient) -> dict:
    """Return the last that a server says before it hangs up."""
    return (await client.closed())[-1]


async def follower(server, name="Flo") -> RawClient:
    """Return a guest who follows the lobby."""
    client = await guest(server, name)
    assert (await client.ask({"t": "lobby"}))["t"] == "ok"
    return client


async def heard(client: RawClient, tag: str, **fields) -> list[dict]:
    """Return every message with a tag and these fields that has come by now."""
    await client.send({"t": "ping", "n": 4711})
    await client.until("pong", n=4711)
    return [
        message
        for message in client.log
        if message["t"] == tag and all(message.get(name) == value for name, value in fields.items())
    ]


async def said(client: RawClient) -> list[str]:
    """Return the texts of the chat that has come by now."""
    return [line["text"] for line in await heard(client, "chat")]


async def say(client: RawClient, text: str, table: str | None = None) -> dict:
    """Say something, at a table or in the lobby."""
    return await client.ask({"t": "chat", "text": text, "table": table})
