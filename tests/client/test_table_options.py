"""Options of a table on the command line: a plain number is one, anything else is left to the server to read."""

from rows import each_row

from truc_terminal.commands.table_options import table_options


@each_row("value", ["²", "٣", "9" * 5_000, "+1", "1_0", "", "on"])
def test_what_is_no_plain_number_stays_a_word(value) -> None:
    assert table_options((f"target={value}",)) == {"target": value}


def test_a_plain_number_is_one() -> None:
    assert table_options(("target=12", "pica=on")) == {"target": 12, "pica": "on"}
