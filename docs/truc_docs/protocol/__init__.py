"""The pages of docs/ that are made from the code, and so say what it does.

`python -m truc_docs.protocol docs/protocol` writes the pages of the protocol (`pages`), `python -m
truc_docs.protocol.rules docs/rules` those of the games (`rules`). A test fails when a page in the repository is not
what is written here.
"""

from typing import Final

GENERATED: Final = "<!-- made by `python -m truc_docs.protocol docs/protocol` -->"
