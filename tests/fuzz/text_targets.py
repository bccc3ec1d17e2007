"""What people write: settings, variants, scenarios, addresses, key files, and what a host calls players by."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from truc_client.address import parse_address
from truc_client.errors import AddressError, HomeError
from truc_client.home.home import export_seed, import_seed
from truc_protocol.crypto.keys import KeyFileError, from_pem
from truc_protocol.documents import read_document, rule_document
from truc_protocol.key_files import read_revocation, read_rolls, rolls_text
from truc_rules.scenario.runner import run
from truc_rules.scenario.text import ScenarioError, scenarios
from truc_rules.variants.house import HouseVariantError
from truc_server.lobby.names import normalised
from truc_server.net.peer import RefusedRequestError
from truc_server.settings.settings import SettingsError
from truc_server.settings.settings_file import PREFIX, load, settings_text
from truc_server.settings.subjects import Subjects, is_subject
from truc_words.house_variants import read_variant, variant_file
from truc_words.rules_page import rules_page

LONGEST_WORD: Final = 4_000
MOST_CHARACTERS: Final = 64
NOWHERE: Final = Path("/dev/null")
"""Where a scenario may look for files: there are none below it."""


def _text(raw: bytes) -> str:
    """Return bytes as the text of a file."""
    return raw.decode("utf-8", "replace")


def _argument(raw: bytes) -> str:
    """Return bytes as a process is given them, in its arguments and its environment."""
    return raw.decode("utf-8", "surrogateescape").replace("\x00", "")


def _check_told(text: str, *beginnings: str) -> None:
    """Check what somebody is told: a line that a terminal can show."""
    assert text.startswith(beginnings)
    assert text.isprintable()
    assert len(text) <= LONGEST_WORD


def _check_problems(problems: Sequence[str]) -> None:
    assert problems
    for problem in problems:
        _check_told(problem, "ours.toml: ")


def _check_place(number: int, lines: int) -> None:
    assert 1 <= number <= lines


def settings_files(raw: bytes) -> None:
    """A file of settings is read, or refused with the line; what was read is written and read again as the same."""
    text = _text(raw)
    try:
        found = load(file=("truc.toml", text), environ={}, flags={})
    except SettingsError as error:
        _check_told(str(error), "truc.toml line ", "truc.toml: expected at most")
        return
    if ":***@" not in (written := settings_text(found)):
        assert load(file=("truc.toml", written), environ={}, flags={}) == found


def environments(raw: bytes) -> None:
    """Variables of the environment, a line each, are read, or refused by name."""
    pairs = (line.partition("=") for line in _argument(raw).split("\n") if "=" in line)
    environ = {name: value for name, _, value in pairs}
    try:
        found = load(file=None, environ=environ, flags={})
    except SettingsError as error:
        _check_told(str(error), PREFIX)
    else:
        assert settings_text(found).encode()


def variant_files(raw: bytes) -> None:
    """A variant is read, or refused with what is wrong; what was read is written and read again as the same."""
    try:
        variant = read_variant(_text(raw), "ours.toml")
    except HouseVariantError as error:
        _check_problems(error.problems)
        return
    assert read_document(rule_document(variant)) == variant
    if sum(raw) % 8 == 0:  # slow, and the same for the same bytes
        assert read_variant(variant_file(variant), "again.toml") == variant
        assert rules_page(variant)


def scenario_files(raw: bytes) -> None:
    """A scenario holds, or fails in one of its lines; the numbers of one that holds have the spelling of the rest."""
    text = _text(raw)
    lines = text.count("\n") + 1
    try:
        found = scenarios(text)
        for scenario in found:
            run(scenario, NOWHERE)
    except ScenarioError as error:
        _check_place(error.number, lines)
        return
    for word in re.split(r"[ +;]", " ".join(line.text for scenario in found for line in scenario.lines)):
        with suppress(ValueError):
            assert str(int(word)) == word


def addresses(raw: bytes) -> None:
    """An address is one, or refused; what was read is written and read again as the same."""
    with suppress(AddressError):
        address = parse_address(_argument(raw))
        assert 0 <= address.port <= 65_535
        assert parse_address(str(address)) == address


def revocations(raw: bytes) -> None:
    """A revocation is signed by the key it gives up, or refused."""
    with suppress(KeyFileError):
        assert len(read_revocation(raw.decode("ascii", "replace"))) == 32


def rolls(raw: bytes) -> None:
    """Rotations follow each other, or are refused; what was read is written and read again as the same."""
    with suppress(KeyFileError):
        found = read_rolls(raw.decode("ascii", "replace"))
        assert read_rolls(rolls_text([each.roll for each in found])) == found


def key_files(raw: bytes) -> None:
    """A key file holds a key, or is refused, with a passphrase and without."""
    for passphrase in (None, "open"):
        with suppress(KeyFileError):
            assert len(from_pem(raw, passphrase).public) == 32


def exported_keys(raw: bytes) -> None:
    """A key that was exported is read, or refused; it is exported as it was."""
    with suppress(HomeError):
        assert import_seed(export_seed(import_seed(_text(raw)))) == import_seed(_text(raw))


def names(raw: bytes) -> None:
    """A name is refused, or has one form, which stays; numbered, it is a name too."""
    with suppress(RefusedRequestError):
        name = normalised(_text(raw)[:MOST_CHARACTERS])
        assert normalised(name) == name
        assert name.isprintable()
        assert 1 <= len(name.encode()) <= 64


def subjects(raw: bytes) -> None:
    """Whom a host means is told, or refused."""
    entries = [entry for entry in _argument(raw).split("\n") if is_subject(entry)]
    named = Subjects.of(entries)
    assert named.has_address("192.0.2.1") in (True, False)
    assert named.has_address("2001:db8::1") in (True, False)
