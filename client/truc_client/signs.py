"""The signs of a seat to those who may see them.

None is stored or repeated after a lost connection; one that another record has overtaken is sealed anew, but never for
another hand.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from truc_client.errors import ChoiceError, RefusedError
from truc_client.matches.seatmatch import SeatMatch
from truc_protocol.errors import Code
from truc_protocol.messages import BoxedSign, OpenSign
from truc_words import Sentence

if TYPE_CHECKING:
    from truc_client.session import Session

_TRIES: Final = 8


async def sign(session: "Session", code: str, playing: Callable[[], SeatMatch], word: str) -> None:
    """Sign a word of the game to those who may see it.

    Raises:
        ChoiceError: No match is on, the hand is over, or nobody sees a sign of this seat.
        RefusedError: The rules do not allow it.
        LostError: The connection was lost before the reply.
    """
    hand = _hand(playing())

    def build(n: int) -> BoxedSign | OpenSign:
        match = playing()
        if _hand(match) != hand:
            raise ChoiceError(Sentence("failures.hand_over"))
        return _request(n, code, match, word)

    for _ in range(_TRIES - 1):
        try:
            await session.request(build)
        except RefusedError as error:
            if error.code != Code.STALE_POSITION:
                raise
        else:
            return
    await session.request(build)


def _hand(match: SeatMatch) -> tuple[bytes, int]:
    return match.mid, match.ledger.deal_index


def _request(n: int, code: str, match: SeatMatch, word: str) -> BoxedSign | OpenSign:
    to, box = match.sign(word)
    if box is None:
        return OpenSign(id=n, table=code, match=match.mid, at=match.next, word=word)
    return BoxedSign(id=n, table=code, match=match.mid, at=match.next, to=to, box=box)
