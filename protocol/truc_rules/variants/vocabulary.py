"""The words that can be signed, and the cards that each names: the signer claims to hold one of them unplayed.

A word without cards claims something that no card decides; its truth cannot be enforced.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

SIGNS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "three": ("3",),
        "two": ("2",),
        "ace": ("1", "A"),
        "seven": ("7",),
        "eight": ("8",),
        "ace-swords": ("1e",),
        "ace-clubs": ("1b",),
        "seven-swords": ("7e",),
        "seven-gold": ("7o",),
        "false-ace": ("1c", "1o"),
        "high-envido": (),
        "low-envido": (),
        "zap": ("4c",),
        "seven-hearts": ("7h",),
        "ace-spades": ("As",),
        "seven-diamonds": ("7d",),
        "manilha-clubs": (),
        "manilha-hearts": (),
        "manilha-spades": (),
        "manilha-diamonds": (),
        "piece-two": (),
        "piece-four": (),
        "piece-five": (),
        "piece-eleven": (),
        "piece-ten": (),
        "nothing": (),
        "thirty-three": (),
    }
)
"""By word, the ranks or cards of which one is claimed; rules.md, sections 12 and 13b.13."""


def is_checkable(word: str) -> bool:
    """Tell whether the cards decide if a sign is true."""
    return bool(SIGNS[word])
