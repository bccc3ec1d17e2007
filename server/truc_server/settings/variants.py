"""The games a server plays: the presets, and those its host has written into the folder `variants`.

The folder is read once, at the start. Invariant: a catalogue is whole: if one file is wrong, a `VariantsError` says all
that is wrong with the folder, and there is no catalogue.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from truc_commands.files import read_bounded
from truc_protocol.messages import VariantOffer
from truc_rules import Variant, VariantError, preset, presets
from truc_rules.errors import nearest_hint
from truc_rules.variants.house import MAX_FILE, HouseVariantError
from truc_rules.variants.toml_text import as_toml
from truc_server.settings.folder import FolderError, files_in
from truc_words import local_sets
from truc_words.house_variants import read_variant

MOST: Final = 256
_ENDING: Final = ".toml"


class VariantsError(Exception):
    """Files in the folder describe no playable games; each of `problems` names one, the field and the reason."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(self.problems))


class VariantCatalogue(NamedTuple):
    """Every game of a server, by name."""

    games: Mapping[str, Variant]

    def named(self, name: str) -> Variant:
        """Return a game.

        Raises:
            VariantError: There is none of that name.
        """
        if name in self.games:
            return self.games[name]
        like = nearest_hint(name, self.games)
        raise VariantError(
            f"variant: expected a game of this server, got {name!r}{like}; `truc rules --from HOST` lists them"
        )

    def own(self) -> tuple[str, ...]:
        """Return the names of the host's own games."""
        return tuple(name for name in self.games if name not in presets())

    def notes(self) -> tuple[str, ...]:
        """Return what a host should know, one line each: games whose set of words is not among those we have."""
        known = local_sets()
        return tuple(
            f"{name}: words: expected one of {', '.join(known)}, got {as_toml(words)}; told in plain words"
            for name in self.own()
            if (words := self.games[name].words) not in known
        )

    def offers(self) -> tuple[VariantOffer, ...]:
        """Return all games, as the hello lists them."""
        return tuple(VariantOffer(name=name, seats=game.players) for name, game in self.games.items())


def read_catalogue(folder: Path) -> VariantCatalogue:
    """Read the host's games and add them to the presets; a folder that is not there has none.

    Raises:
        VariantsError: Files are no variants, or two have one name.
    """
    games = {name: preset(name) for name in presets()}
    origins: dict[str, str] = {}
    problems: list[str] = []
    for file in _files(folder):
        source = f"{folder.name}/{file.name}"
        try:
            variant = _read(file, source)
        except HouseVariantError as error:
            problems += error.problems
            continue
        if variant.name in origins:
            taken = origins[variant.name]
            problems.append(f'{source}: name: expected another one than {taken} has, got "{variant.name}"')
        games[variant.name], origins[variant.name] = variant, source
    if problems:
        raise VariantsError(problems)
    return VariantCatalogue(games)


def _files(folder: Path) -> Sequence[Path]:
    try:
        files = files_in(folder)
    except FolderError as error:
        raise VariantsError([str(error)]) from error
    if len(files) > MOST:
        raise VariantsError([f"{folder}: expected at most {MOST} files, got {len(files)}"])
    return files


def _kind(path: Path) -> str:
    if path.is_dir():
        return "a folder"
    return "a link to nothing" if path.is_symlink() else "something else"


def _read(file: Path, source: str) -> Variant:
    if file.suffix != _ENDING:
        raise HouseVariantError(source, [f"expected a file that ends in {_ENDING}, got {file.name}"])
    if not file.is_file():
        raise HouseVariantError(source, [f"expected a file, got {_kind(file)}"])
    try:
        # Bounded, as a link to a device would never end.
        text = read_bounded(file, MAX_FILE).decode()
    except OSError as error:
        raise HouseVariantError(source, [error.strerror or "cannot be read"]) from error
    except UnicodeDecodeError as error:
        raise HouseVariantError(source, [f"expected text in UTF-8, got: {error}"]) from error
    return read_variant(text, source)
