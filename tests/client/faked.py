"""Tables without a server: what happens there is what a test gives, and what is done there is noted."""

from types import SimpleNamespace

import trio
import trio.testing

from truc_client.happenings import MoveChoice, TableChanged, TableGone, YourTurn
from truc_rules import Variant

END = TableGone("the end")


def turn(*lines: str, at: int = 1, must: bool = True) -> YourTurn:
    choices = tuple(MoveChoice(line, line.split()[0], {}, at=at) for line in lines)
    return YourTurn(at, at, choices, must, None)


def match_of(variant: Variant, **more) -> SimpleNamespace:
    """Return what a table knows of a match by these rules."""
    setup = SimpleNamespace(terms=SimpleNamespace(variant=variant))
    return SimpleNamespace(ledger=SimpleNamespace(setup=setup), **more)


class FakeTable:
    """A table: `then` is what happens once something was done, and `afterwards` where that says nothing of it.

    Asking for what may not be granted is answered by `refusal`, if there is one. An error among the happenings is raised.
    """

    seat = 0
    match = None
    state = None
    code = "K7PQA"
    afterwards: tuple = (END,)

    def __init__(self, *happenings, then=None, refusal=None) -> None:
        self.send, self.told = trio.open_memory_channel(100)
        self.then = dict(then or {})
        self.refusal = refusal
        self.done: list[str] = []
        for happening in happenings:
            self.send.send_nowait(happening)

    def __aiter__(self) -> "FakeTable":
        return self

    async def __anext__(self):
        happening = await anext(self.told)
        if isinstance(happening, Exception):
            raise happening
        if isinstance(happening, TableChanged):
            self.state = happening.state
        return happening

    def _happen(self, what: str) -> None:
        self.done.append(what)
        for happening in self.then.get(what, self.afterwards):
            self.send.send_nowait(happening)

    def _ask(self, what: str) -> None:
        if self.refusal is not None:
            raise self.refusal
        self._happen(what)

    async def choose(self, choice, *, place=None) -> None:
        await trio.testing.wait_all_tasks_blocked()  # whoever reads lines may read on meanwhile
        self._happen(choice.line)

    async def sign(self, word: str) -> None:
        self._ask(f"sign {word}")

    async def say(self, phrase: str) -> None:
        self._happen(f"say {phrase}")

    async def resign(self) -> None:
        self._happen("resign")

    async def claim(self) -> None:
        self._ask("claim the match")

    async def chat(self, text: str) -> None:
        self._ask(f"chat {text}")

    async def pause(self) -> None:
        self._ask("pause")

    async def unpause(self) -> None:
        self._happen("resume")
