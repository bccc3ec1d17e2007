"""What may follow each message: complete, and of nothing that does not exist."""

import re

import msgspec
from rows import each_row

from truc_docs.protocol.exchanges import COURSES, EVERY
from truc_protocol.errors import Code
from truc_protocol.messages import MESSAGES, Direction
from truc_protocol.records import KINDS
from truc_protocol.records import tag_of as kind_tag
from truc_protocol.wire.capabilities import CAPABILITIES, is_capability_name

TAGS = {row.tag for row in MESSAGES}
FIELDS = {
    field.encode_name
    for row in MESSAGES
    for form in row.forms
    for field in msgspec.structs.fields(form.message)
}
RECORDS = {kind_tag(kind.body).removeprefix("truc/1/") for kind in KINDS}
OUTSIDE_REQUESTS = {
    Code.BAD_FRAME,
    Code.FRAME_TOO_LARGE,
    Code.BAD_MSGPACK,
    Code.UNKNOWN_REQUEST,
    Code.AUTH_REQUIRED,
    Code.SERVER_FULL,
    Code.SLOW_CONSUMER,
    Code.TIMEOUT,
    Code.KICKED,
    Code.SHUTTING_DOWN,
    Code.MOVED,
    Code.FORGOTTEN,
}


@each_row("direction", Direction)
def test_every_message_has_a_course(direction):
    assert set(COURSES[direction]) == {row.tag for row in MESSAGES if row.direction is direction}


@each_row("direction, tag", [(direction, tag) for direction in Direction for tag in COURSES[direction]])
def test_course_names_only_what_exists(direction, tag):
    named = set(re.findall(r"`([^`]+)`", COURSES[direction][tag].then))
    states = {"open", "terms", "playing", "over"}
    assert named - TAGS - FIELDS - RECORDS - states - set(Code) <= set()


def test_every_code_answers_a_request_or_is_given_without_one():
    answering = {code for course in COURSES[Direction.TO_SERVER].values() for code in course.errors} | {
        *EVERY
    }
    assert answering | OUTSIDE_REQUESTS == set(Code)
    assert answering & OUTSIDE_REQUESTS == set()


def test_nothing_a_server_sends_is_refused():
    assert not any(course.errors for course in COURSES[Direction.TO_CLIENT].values())


def test_codes_of_every_request_are_not_repeated():
    assert not any(set(course.errors) & {*EVERY} for course in COURSES[Direction.TO_SERVER].values())


@each_row("capability", CAPABILITIES)
def test_capability_brings_messages_that_exist(capability):
    assert set(capability.brings) <= TAGS
    assert is_capability_name(capability.name)
