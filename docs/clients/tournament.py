"""A tournament: python tournament.py ADDRESS FOLDER [BOTS]; every bot plays every other one, at home and away.

Each bot has a home of its own in the folder, and so a key. Nothing is taken from the server's word: what counts is
the verdict on each transcript, read again from the file.
"""

import sys
from collections import Counter
from contextlib import AsyncExitStack
from itertools import combinations
from pathlib import Path

import trio

from truc_client import Player, Result, connect, open_home, play_match, simple_bot, verify_file

GAME, OPTIONS = "truc-french", {"match": 1}


async def play(table, seed, transcripts):
    await table.ready()
    ended = await play_match(table, simple_bot(seed))
    transcripts.append(ended.transcript)
    await table.leave()


async def meet(first, second, seed):
    """Play one match at a table of its own; returns the side that has won, by both transcripts."""
    transcripts = []
    table = await first.create(GAME, options=OPTIONS, private=True)
    guest = await second.join(table.code)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(play, table, seed, transcripts)
        nursery.start_soon(play, guest, seed + 1, transcripts)
    verdicts = [verify_file(path) for path in transcripts]
    if any(verdict.result is not Result.PROVEN for verdict in verdicts):
        raise SystemExit(f"not proven: {transcripts}")
    return verdicts[0].winner


async def main(address, folder, bots="4"):
    names = [f"bot {number}" for number in range(int(bots))]
    wins, played = Counter(), 0
    async with AsyncExitStack() as stack:
        servers = {}
        for name in names:
            player = Player(open_home(Path(folder) / name), name)
            servers[name] = await stack.enter_async_context(connect(address, player))
        for pair in combinations(names, 2):
            for home, away in (pair, pair[::-1]):
                winner = await meet(servers[home], servers[away], 2 * played)
                wins[(home, away)[winner]] += 1
                played += 1
    for name in sorted(names, key=lambda name: -wins[name]):
        print(f"{name}  {wins[name]} of {2 * len(names) - 2}")
    print(played, "matches, every transcript proven")


trio.run(main, *sys.argv[1:])
