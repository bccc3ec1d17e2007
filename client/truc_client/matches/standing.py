"""What a player is to a seat in a match, and what they are told if the seat is not, or no longer, played from here.

It is nobody's fault that a seat is played from elsewhere: another home with the same key went on with it, or a
substitute took it as the table's terms allow. So the table ends with a sentence, and no evidence is kept.
"""

from enum import Enum
from typing import Final, assert_never

from truc_client.errors import ClientError, NotPlayedError
from truc_words import Sentence

_REKEY: Final = "truc play --rekey"
NOT_HERE: Final = Sentence("failures.secrets_not_here", command=_REKEY)
PLAYED_ELSEWHERE: Final = Sentence("failures.played_elsewhere", command=_REKEY)


class Standing(Enum):
    """What a player is to a seat in a match.

    Attributes:
        HOLDS: they play the seat, with the secrets in force.
        LOST: their key has the seat, but the secrets in force are not in this client's home.
        ANOTHERS: the seat is somebody else's.
    """

    HOLDS = "holds"
    LOST = "lost"
    ANOTHERS = "another's"


class Wish(Enum):
    """How far a player would go for a seat that they do not hold: look on, begin a new chain, or step in."""

    LOOK_ON = "look on"
    REKEY = "rekey"
    STEP_IN = "step in"


def check_standing(standing: Standing, wish: Wish, *, has_held: bool) -> None:
    """Check that a match can be followed from here; `has_held` tells whether this home ever had the seat.

    Raises:
        NotPlayedError: The seat was never this player's.
        ClientError: The seat is played from elsewhere, or its secrets are lost.
    """
    match standing:
        case Standing.HOLDS:
            return
        case Standing.LOST:
            if wish is not Wish.REKEY:
                raise ClientError(PLAYED_ELSEWHERE if has_held else NOT_HERE)
        case Standing.ANOTHERS:
            if has_held:
                raise ClientError(Sentence("failures.substituted"))
            if wish is not Wish.STEP_IN:
                raise NotPlayedError(Sentence("failures.anothers_seat"))
        case _:
            assert_never(standing)
