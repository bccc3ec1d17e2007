"""What the client library exports: documented, and as it stands on the page for authors."""

import inspect
from pathlib import Path

from rows import each_row

import truc_client
from truc_docs.client_api import api_page

PAGE = Path(__file__).parents[2] / "docs" / "clients" / "api.txt"
NAMED = [getattr(truc_client, name) for name in truc_client.__all__]
CODE = [value for value in NAMED if inspect.isclass(value) or inspect.isfunction(value)]


def test_public_names_are_those_of_the_page() -> None:
    assert api_page() == PAGE.read_text("utf-8"), "python -m truc_docs.client_api docs/clients"


def test_public_name_is_exported_once() -> None:
    assert len(set(truc_client.__all__)) == len(truc_client.__all__)


@each_row("value", CODE)
def test_public_name_says_what_it_is(value) -> None:
    assert value.__doc__
    assert not value.__doc__.startswith(f"{value.__name__}(")
