import re
from pathlib import Path

import pytest

from truc_client import Address, AddressError, parse_address

TRANSPORT = Path(__file__).parents[2] / "docs" / "protocol" / "transport.md"

PIN = "YGCVWEEC7O66OJIVVCJDP74ZH2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("host", Address("host")),
        ("host:99", Address("host", 99)),
        ("[::1]:99", Address("::1", 99)),
        ("truc://host", Address("host")),
        ("truc://host:99/K7PQ", Address("host", 99, "K7PQ")),
        (f"truc://host:99/K7PQ#{PIN}", Address("host", 99, "K7PQ", PIN)),
        (f"truc://[::1]#{PIN}", Address("::1", 7373, None, PIN)),
        ("trucs://host:99/K7PQ", Address("host", 99, "K7PQ", is_tls=True)),
    ],
)
def test_address_is_read(text, expected) -> None:
    assert parse_address(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "http://host",
        "truc://",
        "trucs://",
        "trucs://truc://host",
        "host:none",
        "host:99999",
        "host/a b",
        "host#short",
        "truc://a@host",
        "host?x",
    ],
)
def test_wrong_address_is_refused(text) -> None:
    with pytest.raises(AddressError, match="expected"):
        parse_address(text)


def test_addresses_of_the_specification_are_read_and_written() -> None:
    (block,) = re.findall(r"```text\n(truc://.*?)```", TRANSPORT.read_text(encoding="utf-8"), re.DOTALL)
    given = block.split()
    assert [str(parse_address(text)).replace(":7373", "") for text in given] == [
        text.replace(":7373", "") for text in given
    ]
    assert len(given) == 5


def test_address_is_written_as_it_is_read() -> None:
    text = f"truc://[::1]:99/K7PQ#{PIN}"
    assert str(parse_address(text)) == text


def test_encrypted_address_is_written_as_it_is_read() -> None:
    text = f"trucs://host:7373/K7PQ#{PIN}"
    assert str(parse_address(text)) == text
    assert parse_address(text).place == "trucs://host:7373"


def test_link_may_carry_an_invite() -> None:
    link = f"truc://host:99/K7PQ?invite=GLAD-2-SEE#{PIN}"
    assert parse_address(link) == Address("host", 99, "K7PQ", PIN, "GLAD-2-SEE")
    assert str(parse_address(link)) == link


@pytest.mark.parametrize(
    "query", ["invite=", "invite=short", "invite=a%20b%20c%20d", "invite=LONGENOUGH&x=1"]
)
def test_invite_that_is_none_is_refused(query) -> None:
    with pytest.raises(AddressError, match="invite=CODE"):
        parse_address(f"truc://host?{query}")
