"""Make the kept transcripts, and tampered.json; docs/fairness/vectors.md gives the command.

All other files were made once: they pin what was agreed on, and what stands there must not follow a change of the code. A
new kind of record is added by vectors.records.
"""

from vectors.shape import text_of
from vectors.transcripts import make, tampered

if __name__ == "__main__":
    make.main()  # the transcripts first: files are damaged of them
    (make.FOLDER / "tampered.json").write_text(text_of(tampered.made()), encoding="utf-8")
