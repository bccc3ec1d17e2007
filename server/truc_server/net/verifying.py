"""Signatures of players, checked in a thread beside the main one; those that come during a check go there together.

A check costs more than everything else about an act, and lets other threads run while it lasts. Deliberately not here:
what is compared before, because that is cheap, and after, because the match may have gone on (acceptance.py). A check on
the main thread would cost it half as much again as all the rest of a signed act: 570 to 630 µs instead of 370 to 480, in
four runs of the benchmark in turns. Invariants:
whoever asks is answered for the very bytes they asked about; at most as many questions wait as there are connections,
because each connection waits for its answer.
"""

from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import Final

from outcome import Outcome

from truc_protocol.crypto import keys
from truc_server.timing.poller import Poller, Worker

MOST: Final = (
    64  # signatures in one hop to the thread; with more, those that came first would wait for the last
)


class Question:
    """A signature to check, and whom to tell, in the context in which they asked."""

    __slots__ = ("body", "call", "context", "is_sound", "public", "sig")

    def __init__(self, public: bytes, body: bytes, sig: bytes, call: Callable[[bool], None]) -> None:
        self.public = public
        self.body = body
        self.sig = sig
        self.call = call
        self.context = copy_context()
        self.is_sound = False

    def answer(self) -> None:
        """Tell whoever asked."""
        self.context.run(self.call, self.is_sound)


class Verifier:
    """The one thread that checks signatures for every connection."""

    def __init__(self, poller: Poller) -> None:
        self._poller = poller
        self._worker = Worker("verifier", poller)
        self._asked: list[Question] = []
        self._is_busy = False

    def ask(self, public: bytes, body: bytes, sig: bytes, call: Callable[[bool], None]) -> None:
        """Call back later with whether a signature is that of a key over these bytes; `call` must raise nothing."""
        self._asked.append(Question(public, body, sig, call))
        if not self._is_busy:
            self._is_busy = True
            self._poller.put_off(self._begin)

    async def run(self) -> None:
        """Answer what is asked, until cancelled."""
        await self._worker.run()

    def _begin(self) -> None:
        asked, self._asked = self._asked[:MOST], self._asked[MOST:]
        self._worker.give(partial(_answer, asked), partial(self._go_on, asked))

    def _go_on(self, asked: list[Question], answered: Outcome[None]) -> None:
        answered.unwrap()
        for question in asked:
            question.answer()
        self._is_busy = bool(self._asked)
        if self._is_busy:
            self._begin()


def _answer(asked: list[Question]) -> None:
    for question in asked:
        question.is_sound = keys.verify(question.public, question.body, question.sig)
