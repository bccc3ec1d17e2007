"""The pages of docs/protocol, written from the tables of the code: `python -m truc_docs.protocol DIR`.

Fields and their lines come from the message classes, codes and capabilities from their registries, steps from the
state tables.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from truc_docs.protocol.messages import examples_file, messages_page
from truc_docs.protocol.registries import capabilities_page, errors_page, facts_page
from truc_docs.protocol.states import connection_page
from truc_docs.protocol.typescript import types_file

PAGES: Final[Mapping[str, Callable[[], str]]] = MappingProxyType(
    {
        "messages.md": messages_page,
        "errors.md": errors_page,
        "capabilities.md": capabilities_page,
        "connection.md": connection_page,
        "facts.md": facts_page,
        "schema/messages.d.ts": types_file,
        "schema/examples.json": examples_file,
    }
)


def write(folder: Path) -> None:
    """Write every page into `folder`."""
    (folder / "schema").mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (folder / name).write_text(page(), encoding="utf-8")
