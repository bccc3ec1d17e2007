import io

from rows import each_row

from truc_terminal.screen.glyphs import spell_nearest


@each_row(
    "encoding, expected",
    [
        ("ascii", '"truco" vira ... 10? n? coeur anul.la'),
        ("iso8859-1", '"truco" virá ... 10? ¿n? coeur anul·la'),
        ("utf-8", "“truco” virá … 10† ¿n? cœur anul·la"),
    ],
)
def test_sign_that_an_output_has_not_is_written_with_the_nearest(encoding, expected) -> None:
    written = io.BytesIO()
    output = io.TextIOWrapper(written, encoding=encoding)
    spell_nearest(output)
    output.write("“truco” virá … 10† ¿n? cœur anul·la")
    output.flush()
    assert written.getvalue().decode(encoding) == expected


def test_output_that_is_no_file_is_left_alone() -> None:
    spell_nearest(io.StringIO())
