"""Every scene for clients, and which of them each level asks for."""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Final

from truc_conform.client_cases import (
    blind,
    blind_cheats,
    blind_games,
    cheats,
    entering,
    game_cheats,
    games,
    interrupted,
    keyed,
    moving,
    option_cheats,
    seated,
    server_keys,
    two_histories,
    watching,
)
from truc_conform.client_cases.blind import unsealed
from truc_conform.client_cases.keyed import without_key
from truc_conform.result import Case, Level, in_module
from truc_conform.scenes import Scene, absent, needing, unwatched

SCENES: Final[tuple[Scene, ...]] = (
    *in_module(entering, Scene),
    *needing(unwatched, in_module(watching, Scene)),
    *needing(absent, in_module(seated, Scene)),
    *needing(absent, in_module(interrupted, Scene)),
    *in_module(moving, Scene),
    *in_module(keyed, Scene),
    *needing(without_key, in_module(cheats, Scene)),
    *needing(without_key, in_module(option_cheats, Scene)),
    *needing(without_key, in_module(two_histories, Scene)),
    *needing(without_key, in_module(games, Scene)),
    *needing(without_key, in_module(game_cheats, Scene)),
    *in_module(server_keys, Scene),
    *needing(unsealed, in_module(blind, Scene)),
    *needing(unsealed, in_module(blind_games, Scene)),
    *needing(unsealed, in_module(blind_cheats, Scene)),
)
CASES: Final[tuple[Case, ...]] = tuple(case for scene in SCENES for case, _ in scene.judged)
ASKED: Final[dict[Level, tuple[Level, ...]]] = {
    Level.C0: (Level.C0,),
    Level.C1: (Level.C0, Level.C1),
    Level.C2: (Level.C0, Level.C2),
    Level.C3: (Level.C0, Level.C2, Level.C3),
    Level.C4: (Level.C0, Level.C2, Level.C3, Level.C4),
    Level.C5: (Level.C0, Level.C2, Level.C3, Level.C5),
}
"""What a client must pass at each level: one that plays need not watch."""


def chosen(level: Level | None, patterns: Sequence[str] = ()) -> tuple[Scene, ...]:
    """Return the scenes of a level, or of all levels, with the cases that match one of the patterns."""
    levels = ASKED[level] if level is not None else tuple(Level)
    narrowed = (_narrowed(scene, levels, patterns) for scene in SCENES)
    return tuple(scene for scene in narrowed if scene.judged)


def _narrowed(scene: Scene, levels: Sequence[Level], patterns: Sequence[str]) -> Scene:
    judged = tuple(
        (case, judge)
        for case, judge in scene.judged
        if case.name.partition(".")[0] in levels and fits(case, patterns)
    )
    return scene._replace(judged=judged)


def fits(case: Case, patterns: Sequence[str]) -> bool:
    """Tell whether a case has a name that one of the patterns matches; without patterns every case has."""
    return not patterns or any(fnmatchcase(case.name, pattern) for pattern in patterns)
