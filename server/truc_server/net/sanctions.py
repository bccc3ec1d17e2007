"""Whom the host has shut out or muted: the lists of the settings, and what is imposed by command.

A value: what is in force at one moment. upkeep/sanction_watch.py reads it again and again, and cuts off those who are shut out.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

from truc_server.settings.settings import AccessSettings
from truc_server.settings.subjects import Subjects, normal_subject
from truc_server.storage import Sanction, SanctionKind
from truc_server.timing.clock import now_ms

_HOUR_MS: Final = 3_600_000


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


def imposed_now(subject: str, kind: SanctionKind, hours: int | None) -> Sanction:
    """Return what is imposed on a subject from now on, for so many hours; None is for ever."""
    now = now_ms()
    return Sanction(subject, kind, now, None if hours is None else now + hours * _HOUR_MS)


def setting_naming(access: AccessSettings, subject: str, kind: SanctionKind) -> str | None:
    """Return the setting that imposes the same on a subject, so that lifting it by command is not enough; or None."""
    name, listed = ("banned", access.banned) if kind is SanctionKind.BAN else ("muted", access.muted)
    return f"access.{name}" if subject in map(normal_subject, listed) else None


def in_force(imposed: Iterable[Sanction], at_ms: int) -> tuple[Sanction, ...]:
    """Return the sanctions that are not over by a time."""
    return tuple(sanction for sanction in imposed if sanction.until_ms is None or at_ms < sanction.until_ms)


def _subjects(imposed: Iterable[Sanction], kind: SanctionKind) -> tuple[str, ...]:
    return tuple(sanction.subject for sanction in imposed if sanction.kind is kind)
