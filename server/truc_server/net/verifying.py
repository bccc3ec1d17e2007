"""Signatures of players, checked in a thread beside the main one; those that come during a check go there together.

A check costs more than everything else about an act, and lets other threads run while it lasts. Deliberately not here:
what is compared before, because that is cheap, and after, because the match may have gone on (acceptance.py). A check on
the main thread would cost it half as much again as all the rest of a signed act: 570 to 630 µs instead of 370 to 480, in
four runs of the benchmark in turns. Invariants:
whoever asks is answered for the very bytes they asked about; at most as many questions wait as there are connections,
because each connection waits for its answer.
"""

from typing import Final

import trio

from truc_protocol.crypto import keys

MOST: Final = (
    64  # signatures in one hop to the thread; with more, those that came first would wait for the last
)


class Check:
    """A signature to check, and what has come of it once that is known."""

    __slots__ = ("body", "done", "is_sound", "public", "sig")

    def __init__(self, public: bytes, body: bytes, sig: bytes) -> None:
        self.public = public
        self.body = body
        self.sig = sig
        self.is_sound = False
        self.done = trio.Event()


class Verifier:
    """What checks signatures for every connection."""

    def __init__(self) -> None:
        self._waiting: list[Check] = []
        self._wake = trio.Event()

    async def is_sound(self, public: bytes, body: bytes, sig: bytes) -> bool:
        """Tell whether a signature is that of a key over these bytes."""
        check = Check(public, body, sig)
        self._waiting.append(check)
        self._wake.set()
        await check.done.wait()
        return check.is_sound

    async def run(self) -> None:
        """Check what is asked for, until cancelled."""
        while True:
            await self._wake.wait()
            taken, self._waiting = self._waiting[:MOST], self._waiting[MOST:]
            if not self._waiting:
                self._wake = trio.Event()
            await trio.to_thread.run_sync(_check_all, taken)
            for check in taken:
                check.done.set()


def _check_all(taken: list[Check]) -> None:
    for check in taken:
        check.is_sound = keys.verify(check.public, check.body, check.sig)
