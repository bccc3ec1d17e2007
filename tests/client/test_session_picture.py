"""The picture of the README: drawn from the transcript of a match, by the client as it is."""

from xml.etree import ElementTree as ET

from vectors.session import PICTURE, TRANSCRIPT, made, text_of

from truc_client.verifying import verify_file


def test_picture_is_what_the_client_shows_of_its_match() -> None:
    drawn = PICTURE.read_text("utf-8")
    assert text_of(drawn) == text_of(made()), "python -m vectors.session"


def test_picture_asks_nobody_else_for_anything() -> None:
    picture = PICTURE.read_text("utf-8")
    ET.fromstring(picture)
    assert [mark for mark in ("url(http", "href=", "@import", "<script") if mark in picture] == []


def test_match_of_the_picture_is_proven() -> None:
    assert verify_file(TRANSCRIPT).result == "proven"
