"""A match that is held after a restore, until it is known that no player has seen more of it than the server has.

Data restored from a backup may be older than what players were shown. To go on signing from there would make a second
history of the match, which looks like fraud. What seats send meanwhile is put off, and answered when this is known.
Invariant: a match that is held takes nothing, and the server signs nothing in it, until the player of every seat has
asked for no more than is there.
"""

from collections.abc import Callable
from secrets import token_hex
from typing import Final

import structlog

from truc_protocol.errors import Code
from truc_protocol.messages import Request, refusal
from truc_server.net.peer import Peer, RefusedRequestError, RepeatedActError, TooSoonError
from truc_server.table_data.codes import label
from truc_server.timing.clock import StoppingError

RETRY_MS: Final = 1_000  # after this, what is not put off may be tried again
MOST_PUT_OFF: Final = 32  # acts of one match; a seat owes no more than a few

log = structlog.get_logger()


class RestoreHold:
    """Whether one match is held, and whose word is missing.

    Attributes:
        unheard: the seats whose players are still to be heard; none if the match is not held.
    """

    def __init__(self, table: str, mid: bytes) -> None:
        self._table = label(table)
        self._mid = mid
        self.unheard: tuple[int, ...] = ()
        self._put_off: list[tuple[Peer, Request, Callable[[], object]]] = []
        self._claiming: tuple[int, ...] = ()

    @property
    def is_on(self) -> bool:
        """Whether the match is held."""
        return bool(self.unheard)

    def begin(self, *, seats: int, k: int) -> None:
        """Hold the match, of which `k` records are there, until each of its seats has been heard."""
        self.unheard = tuple(range(seats))
        log.warning("match_held", table=self._table, match=self._mid.hex(), k=k)

    def hear(self, seat: int) -> bool:
        """Note that a seat's player has seen no more than is there; tell whether this lets the match go on."""
        was_on, self.unheard = self.is_on, tuple(other for other in self.unheard if other != seat)
        goes_on = was_on and not self.is_on
        if goes_on:
            log.info("match_goes_on", table=self._table, match=self._mid.hex())
        return goes_on

    def put_off(self, peer: Peer, request: Request, take: Callable[[], object]) -> None:
        """Take a request when the match goes on or is given up, if the connection it came by is still there.

        A client that has waited long takes the connection for lost, comes back and sends it again.

        Raises:
            TooSoonError: Too much is put off already.
        """
        # what a lost connection has sent comes again on the next one, and takes nobody's place meanwhile
        self._put_off = [waiting for waiting in self._put_off if waiting[0].is_open]
        if len(self._put_off) >= MOST_PUT_OFF:
            self.check_not_held()
        self._put_off.append((peer, request, take))

    def end(self) -> None:
        """Hold the match no longer, and take what was put off: it gets the answer it would have had."""
        self.unheard = ()
        later, self._put_off = self._put_off, []
        for peer, request, take in later:
            if peer.is_open:
                try:
                    take()
                except RepeatedActError as repeated:
                    peer.ok(request, k=repeated.k, dup=True)
                except RefusedRequestError as error:
                    peer.refuse(error.refusal(request.id))
                except StoppingError:  # everybody is told that the server ends
                    return
                except Exception:  # harms no other who waits, nor whoever has let the match go on
                    incident = token_hex(4)
                    log.exception("internal", incident=incident, table=self._table)
                    detail = {"incident": incident}
                    peer.refuse(refusal(Code.INTERNAL, "the server has failed", re=request.id, detail=detail))

    def check_not_held(self) -> None:
        """Check that the match takes anything now.

        Raises:
            TooSoonError: It is held.
        """
        if self.unheard:
            seats = ", ".join(map(str, self.unheard))
            message = (
                f"the server was restored from a backup: the match goes on when these seats are back: {seats}"
            )
            raise TooSoonError(message, RETRY_MS)

    def report_claim(self, *, seat: int, seen: int, k: int) -> None:
        """Tell the host, once for each seat, that its player says they saw a record beyond the `k` there are.

        One seat's claim proves nothing, since it can be made up for nothing; several may be in league as well.
        """
        if seat in self._claiming:
            return
        self._claiming += (seat,)
        is_alone = len(self._claiming) == 1
        log.warning(
            "player_has_seen_more",
            table=self._table,
            match=self._mid.hex(),
            seat=seat,
            claims=len(self._claiming),
            seen=seen,
            newest=k - 1,
            reason="the claim of this seat alone, which proves nothing"
            if is_alone
            else "was the data restored from an older copy?",
        )
