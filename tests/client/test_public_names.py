"""What the client library exports: typed, documented, and as it stands on the page for authors."""

import inspect
from pathlib import Path

import pytest

import truc_client
from truc_docs.client_api import api_page

PAGE = Path(__file__).parents[2] / "docs" / "clients" / "api.md"
NAMED = [getattr(truc_client, name) for name in truc_client.__all__]
CODE = [value for value in NAMED if inspect.isclass(value) or inspect.isfunction(value)]


def methods() -> list:
    return [
        pytest.param(member, id=f"{value.__name__}.{name}")
        for value in CODE
        if inspect.isclass(value) and value.__module__.startswith("truc_")
        for name, member in vars(value).items()
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property))
    ]


def test_public_names_are_those_of_the_page() -> None:
    assert api_page() == PAGE.read_text("utf-8"), "python -m truc_docs.client_api docs/clients"


def test_public_name_is_exported_once() -> None:
    assert len(set(truc_client.__all__)) == len(truc_client.__all__)


@pytest.mark.parametrize("value", CODE, ids=lambda value: value.__name__)
def test_public_name_says_what_it_is(value) -> None:
    assert value.__doc__
    assert not value.__doc__.startswith(f"{value.__name__}(")


@pytest.mark.parametrize("method", methods())
def test_public_method_says_what_it_does(method) -> None:
    assert inspect.getdoc(method)


@pytest.mark.parametrize("method", methods())
def test_public_method_is_typed(method) -> None:
    signature = inspect.signature(method.fget if isinstance(method, property) else method)
    given = [each.annotation for name, each in signature.parameters.items() if name != "self"]
    assert inspect.Signature.empty not in (*given, signature.return_annotation)
