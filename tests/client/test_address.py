import re
from pathlib import Path

import pytest
from rows import each_row

from truc_client import Address, AddressError, ConnectError, parse_address
from truc_client.line.dialing import dial_tcp

TRANSPORT = Path(__file__).parents[2] / "docs" / "protocol" / "transport.md"

PIN = "YGCVWEEC7O66OJIVVCJDP74ZH2"


INVITING = f"truc://host:99/K7PQ?invite=GLAD-2-SEE#{PIN}"


@each_row(
    "text, expected",
    [
        ("host", Address("host")),
        ("host:99", Address("host", 99)),
        ("[::1]:99", Address("::1", 99)),
        ("truc://host", Address("host")),
        ("truc://host:99/K7PQ", Address("host", 99, "K7PQ")),
        (f"truc://host:99/K7PQ#{PIN}", Address("host", 99, "K7PQ", PIN)),
        (f"truc://[::1]#{PIN}", Address("::1", 7373, None, PIN)),
        ("trucs://host:99/K7PQ", Address("host", 99, "K7PQ", is_tls=True)),
        (INVITING, Address("host", 99, "K7PQ", PIN, "GLAD-2-SEE")),
    ],
)
def test_address_is_read(text, expected) -> None:
    assert parse_address(text) == expected


@each_row(
    "text, expected",
    [
        *((text, "expected") for text in ("", "http://host", "truc://", "trucs://", "trucs://truc://host")),
        *((text, "expected") for text in ("host:none", "host:99999", "host/a b", "host#short")),
        *((text, "expected") for text in ("truc://a@host", "host?x")),
        *(
            (f"truc://host?{query}", "invite=CODE")
            for query in ("invite=", "invite=short", "invite=a%20b%20c%20d", "invite=LONGENOUGH&x=1")
        ),
    ],
)
def test_wrong_address_or_invite_is_refused(text, expected) -> None:
    with pytest.raises(AddressError, match=expected):
        parse_address(text)


@each_row("host", ["a..b", ".", 64 * "x", "\u202e", "\u2488com"])
async def test_host_whose_name_cannot_be_looked_up_is_none_that_can_be_reached(host) -> None:
    # a server may send one there, and so may whoever holds the line: what it says of another place is not signed
    with pytest.raises(ConnectError, match="service not known"):
        await dial_tcp(parse_address(f"{host}:7373"))


def test_addresses_of_the_specification_are_read_and_written() -> None:
    (block,) = re.findall(r"```text\n(truc://.*?)```", TRANSPORT.read_text(encoding="utf-8"), re.DOTALL)
    given = block.split()
    for text in (*given, f"truc://[::1]:99/K7PQ#{PIN}", f"trucs://host:7373/K7PQ#{PIN}", INVITING):
        address = parse_address(text)
        assert str(address).replace(":7373", "") == text.replace(":7373", "")
        assert str(address).startswith((address.place, f"truc://{address.place}"))
    assert len(given) == 5
