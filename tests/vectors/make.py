"""Make every vector file that a program makes, and the transcripts; docs/fairness/vectors.md gives the command.

The six files of the primitives (encoding, chains, shuffle, deal, boxes, keys) are not made again: they pin figures that
were agreed on, and what stands there must not follow a change of the code.
"""

from pathlib import Path
from types import ModuleType
from typing import Final

from vectors import evidence, handshake, links, records
from vectors.shape import FOLDER, text_of
from vectors.transcripts import make, tampered

FILES: Final[dict[Path, ModuleType]] = {
    FOLDER / "links.json": links,
    FOLDER / "records.json": records,
    FOLDER / "handshake.json": handshake,
    FOLDER / "evidence.json": evidence,
    make.FOLDER / "tampered.json": tampered,
}


def main() -> None:
    """Write every file; the transcripts first, as others are made from them."""
    make.main()
    for path, module in FILES.items():
        path.write_text(text_of(module.made()), encoding="utf-8")


if __name__ == "__main__":
    main()
