"""Make every vector file that a program makes, and the transcripts; docs/fairness/vectors.md gives the command.

All others were made once: they pin what was agreed on, and what stands there must not follow a change of the code. A new
kind of record is added by vectors.records.
"""

from pathlib import Path
from types import ModuleType
from typing import Final

from vectors import evidence
from vectors.shape import FOLDER, text_of
from vectors.transcripts import make, tampered

FILES: Final[dict[Path, ModuleType]] = {
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
