"""The lists of cases in docs/protocol/conformance.md, made from the cases: `python -m truc_docs.conformance FOLDER`."""

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from truc_conform import client_cases, server_cases
from truc_conform.result import Case

PAGE: Final = "conformance.md"


def listing(cases: Iterable[Case]) -> str:
    """Return the names of cases by the clause they are about."""
    by_clause: dict[str, list[str]] = {}
    for case in cases:
        by_clause.setdefault(case.clause, []).append(f"`{case.name}`")
    return "".join(f"* {_linked(clause)}: {', '.join(names)}\n" for clause, names in by_clause.items())


def _linked(clause: str) -> str:
    page, _, heading = clause.partition("#")
    name = page.rsplit("/", 1)[-1].removesuffix(".md")
    return f"[{name}: {heading.replace('-', ' ')}]({clause})"


def _verbatim(made: str) -> Callable[[re.Match[str]], str]:
    return lambda _found: made


def renewed(page: str) -> str:
    """Return the page with its lists made again."""
    for name, cases in (("clients", client_cases.CASES), ("servers", server_cases.CASES)):
        made = f"<!-- {name} -->\n{listing(cases)}<!-- end -->"
        page = re.sub(f"<!-- {name} -->\n.*?<!-- end -->", _verbatim(made), page, flags=re.DOTALL)
    return page


def main(folder: str) -> None:
    """Write the page anew."""
    path = Path(folder) / PAGE
    path.write_text(renewed(path.read_text()))


if __name__ == "__main__":
    main(*sys.argv[1:])
