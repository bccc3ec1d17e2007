"""What a player is to a seat in a match, and what it is told when the seat is not, or no longer, played from here.

That a seat is played from elsewhere is nobody's fault: another home with the same key went on with it, or a substitute
took it as the table's terms allow. So it ends the table with a sentence, and keeps no evidence.
"""

from enum import Enum
from typing import Final, assert_never

from truc_client.errors import ClientError, NotPlayedError

NOT_HERE: Final = (
    "this seat's secrets are not here: it was taken on another machine, or its home was lost;"
    " to go on from here with a new chain, once the hand is over: truc play --rekey"
)
PLAYED_ELSEWHERE: Final = (
    "another machine with your key has begun a new chain for this seat and plays it from now on; this one has stopped,"
    " its transcript is kept; to play from here again: truc play --rekey"
)
_SUBSTITUTED: Final = (
    "a substitute has taken this seat over: its player was gone; this client has stopped, its transcript is kept;"
    " once the match is over you may sit down at the table again"
)
NOT_PLAYED: Final = "another player had this seat in that match"


class Standing(Enum):
    """What a player is to a seat in a match.

    Attributes:
        HOLDS: it plays the seat, with the secrets in force.
        LOST: its key has the seat, but the secrets in force are not in this client's home.
        ANOTHERS: the seat is somebody else's.
    """

    HOLDS = "holds"
    LOST = "lost"
    ANOTHERS = "another's"


class Wish(Enum):
    """How far a player would go for a seat that it does not hold: look on, begin a new chain, or step in."""

    LOOK_ON = "look on"
    REKEY = "rekey"
    STEP_IN = "step in"


def check_standing(standing: Standing, wish: Wish, *, has_held: bool) -> None:
    """Check that a match can be followed from here; `has_held` tells whether this home ever had the seat.

    Raises:
        NotPlayedError: The seat was never this player's.
        ClientError: It is played from elsewhere, or its secrets are lost.
    """
    match standing:
        case Standing.HOLDS:
            return
        case Standing.LOST:
            if wish is not Wish.REKEY:
                raise ClientError(PLAYED_ELSEWHERE if has_held else NOT_HERE)
        case Standing.ANOTHERS:
            if has_held:
                raise ClientError(_SUBSTITUTED)
            if wish is not Wish.STEP_IN:
                raise NotPlayedError(NOT_PLAYED)
        case _:
            assert_never(standing)
