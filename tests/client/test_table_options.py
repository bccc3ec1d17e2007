"""Options of a table on the command line: a plain number is one, anything else is left to the server to read."""

from truc_terminal.commands.table_options import table_options


def test_plain_number_is_one_and_anything_else_stays_a_word() -> None:
    assert table_options(("target=12", "pica=on")) == {"target": 12, "pica": "on"}
    for value in ("²", "٣", "9" * 5_000, "+1", "1_0", ""):
        assert table_options((f"target={value}",)) == {"target": value}
