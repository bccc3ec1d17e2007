"""Whom the host has shut out or muted: the lists of the settings, and what is imposed by command.

A value: what is in force at one moment. upkeep/sanction_watch.py reads it again and again, and cuts off those who are shut out.
"""

from collections.abc import Iterable
from typing import NamedTuple

from truc_server.settings.settings import AccessSettings
from truc_server.settings.subjects import Subjects
from truc_server.storage import Sanction, SanctionKind


class Sanctions(NamedTuple):
    """Who is shut out, and who plays without talking."""

    banned: Subjects
    muted: Subjects

    @classmethod
    def of(cls, access: AccessSettings, imposed: Iterable[Sanction] = ()) -> "Sanctions":
        """Return what settings say and what is imposed; all of that is taken to be in force."""
        ours = tuple(imposed)
        return cls(
            Subjects.of((*access.banned, *_subjects(ours, SanctionKind.BAN))),
            Subjects.of((*access.muted, *_subjects(ours, SanctionKind.MUTE))),
        )

    def has_banned(self, address: str) -> bool:
        """Tell whether an address is shut out."""
        return self.banned.has_address(address)

    def is_muted(self, *, tag: str, address: str) -> bool:
        """Tell whether a player may not talk, by their tag or by the address they come from."""
        return tag in self.muted.tags or self.muted.has_address(address)


def in_force(imposed: Iterable[Sanction], at_ms: int) -> tuple[Sanction, ...]:
    """Return the sanctions that are not over by a time."""
    return tuple(sanction for sanction in imposed if sanction.until_ms is None or at_ms < sanction.until_ms)


def _subjects(imposed: Iterable[Sanction], kind: SanctionKind) -> tuple[str, ...]:
    return tuple(sanction.subject for sanction in imposed if sanction.kind is kind)
