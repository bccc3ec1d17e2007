"""The table of targets: functions from bytes to nothing that must never raise, each with what to start from and how to change it.

A target checks what it reads: that only the errors that were declared come, that what was read is written again as the
same, that nothing is believed which nobody signed.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from fuzz import seeds, signed_targets, text_targets, wire_targets
from fuzz.mutating import Mutator, after, items, lines, several, values

from truc_protocol import evidence_file, transcript

FOUND: Final = Path(__file__).parent / "found"
_STREAM: Final = items(1)
_VALUE: Final = values
_TEXT: Final = lines


class Target(NamedTuple):
    """What is fuzzed.

    Attributes:
        check: takes any bytes, and raises when something is wrong with the code.
        starts: gives the bytes to start from.
        mutator: changes them in a way that keeps their form.
    """

    check: Callable[[bytes], None]
    starts: Callable[[], Iterable[bytes]]
    mutator: Mutator


TARGETS: Final[Mapping[str, Target]] = {
    "frames": Target(wire_targets.frames, seeds.to_servers, _STREAM),
    "server-end": Target(wire_targets.server_end, seeds.to_servers, _STREAM),
    "client-end": Target(wire_targets.client_end, seeds.to_clients, _STREAM),
    "messages": Target(wire_targets.messages, seeds.messages, _VALUE),
    "infos": Target(wire_targets.infos, seeds.infos, _VALUE),
    "encodings": Target(wire_targets.encodings, seeds.encodings, _VALUE),
    "records": Target(signed_targets.records, seeds.records, _VALUE),
    "acts": Target(signed_targets.acts, seeds.acts, _VALUE),
    "boxes": Target(signed_targets.box_contents, seeds.box_contents, after(1, _VALUE)),
    "server-hellos": Target(signed_targets.server_hellos, seeds.hellos, _VALUE),
    "logins": Target(signed_targets.logins, seeds.logins, _VALUE),
    "rolls": Target(signed_targets.rolls, seeds.roll_bodies, _VALUE),
    "transcripts": Target(signed_targets.transcripts, seeds.transcripts, items(len(transcript.MAGIC))),
    "evidence": Target(signed_targets.evidence, seeds.evidence, items(len(evidence_file.MAGIC))),
    "documents": Target(signed_targets.documents, seeds.documents, _VALUE),
    "settings": Target(text_targets.settings_files, seeds.settings_files, _TEXT),
    "environment": Target(text_targets.environments, seeds.environments, _TEXT),
    "variants": Target(text_targets.variant_files, seeds.variant_files, _TEXT),
    "scenarios": Target(text_targets.scenario_files, seeds.scenario_files, _TEXT),
    "addresses": Target(text_targets.addresses, seeds.addresses, _TEXT),
    "revocations": Target(text_targets.revocations, seeds.revocations, _TEXT),
    "roll-files": Target(text_targets.rolls, seeds.rolls, _TEXT),
    "key-files": Target(text_targets.key_files, seeds.key_files, _TEXT),
    "names": Target(text_targets.names, seeds.names, _TEXT),
    "exported-keys": Target(text_targets.exported_keys, seeds.exported_keys, _TEXT),
    "subjects": Target(text_targets.subjects, seeds.subjects, _TEXT),
}


@cache
def starts(name: str) -> tuple[bytes, ...]:
    """Return what a target starts from."""
    return tuple(dict.fromkeys(TARGETS[name].starts()))


def mutator(name: str) -> Mutator:
    """Return how the bytes of a target are changed: in their form, and now and then blindly."""
    return several(TARGETS[name].mutator)


def found(name: str) -> tuple[Path, ...]:
    """Return the files that a target has failed on once."""
    return tuple(sorted((FOUND / name).glob("*")))
