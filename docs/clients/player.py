"""A player with a key: python player.py ADDRESS HOME [NAME]; a line of input for every decision, by number.

The home holds the key and everything signed: started again it goes on with the match it left.
"""

import sys

import trio

from truc_client import (
    CardsDealt,
    ChatSaid,
    CheckFailedError,
    ClientError,
    MatchEnded,
    MatchStarted,
    Player,
    RecordSeen,
    YourTurn,
    connect,
    open_home,
)


async def sit_down(server):
    for held in server.held:
        table = await server.resume(held)
        if held.match is None:
            await table.ready()
        return table
    table = await server.seek("truc-french", options={"match": 1})
    await table.ready()
    return table


async def decide(table, turn):
    for number, choice in enumerate(turn.options):
        print(f"  {number}: {choice.line}", *choice.hints.items())
    line = await trio.to_thread.run_sync(sys.stdin.readline, abandon_on_cancel=True)
    if not line:
        raise SystemExit("the seat is kept; come back with the same home")
    number = int(line) if line.strip().isdecimal() else 0
    await table.choose(turn.options[min(number, len(turn.options) - 1)])


def readable(value):
    if isinstance(value, list | tuple):
        return " ".join(map(readable, value))
    return value.hex()[:8] if isinstance(value, bytes) else str(value)


def tell(means):
    for fact in means[:-1]:  # the last one is how it stands
        print(*map(readable, fact.values()))
    if any(fact["what"] == "hand_closed" for fact in means):
        print("score:", means[-1]["score"])


async def play(table):
    async for happening in table:
        match happening:
            case MatchStarted(players=players, level=level):
                print(" against ".join(players), "- assurance level", level)
            case CardsDealt(cards):
                print("your cards:", *cards)
            case RecordSeen(means=means):
                tell(means)
            case ChatSaid(player, name, text):
                print(f"{name} ({player}): {text}")
            case YourTurn(must=True):
                await decide(table, happening)
            case MatchEnded(verdict, transcript):
                print(verdict.result, transcript)
                break


async def main(address, home, name="player"):
    player = Player(open_home(home), name, on_new_key=print)  # a new server key must be shown
    async with connect(address, player) as server:
        print("you are", server.name, server.tag, "at", server.info.name)
        table = await sit_down(server)
        print("table", table.code, flush=True)
        try:
            await play(table)
            await table.leave()
        except CheckFailedError as error:
            raise SystemExit(f"somebody cheated: {error}") from error


try:
    trio.run(main, *sys.argv[1:])
except ClientError as error:
    raise SystemExit(str(error)) from error
