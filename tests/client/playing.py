"""What tests of the client share: playing on, by always taking the first option."""

from truc_client import MatchEnded, Table, YourTurn
from truc_client.happenings import Happening

QUIET = ("play", "cut", "stand", "accept", "deal")


def pick(turn: YourTurn):
    """Return the first option of those that keep a match going."""
    return min(
        turn.options, key=lambda choice: QUIET.index(choice.kind) if choice.kind in QUIET else len(QUIET)
    )


async def play_on(
    table: Table, *, until=lambda happening: isinstance(happening, MatchEnded), choose=pick
) -> list[Happening]:
    """Play until something happens; returns everything that has."""
    seen: list[Happening] = []
    async for happening in table:
        seen.append(happening)
        if until(happening):
            return seen
        if isinstance(happening, YourTurn):
            await table.choose(choose(happening))
    return seen
