"""The registry of codes: complete, and of one mind with itself."""

import re

from rows import each_row

from truc_protocol.errors import REGISTRY, Code, Effect, RemoteError


def test_every_code_has_one_row():
    assert tuple(REGISTRY) == tuple(Code)


@each_row("code", Code)
def test_code_is_in_lower_snake_case_and_its_row_says_what_it_means_and_what_to_do(code):
    assert re.fullmatch("[a-z]+(_[a-z]+)*", code.value)
    assert REGISTRY[code].meaning.endswith(".")
    assert REGISTRY[code].remedy.endswith(".")


@each_row(
    "effect, closes, retryable",
    [
        (Effect.REFUSED, False, False),
        (Effect.LATER, False, True),
        (Effect.ENDED, True, False),
        (Effect.INTERRUPTED, True, True),
    ],
)
def test_effect_tells_both_flags(effect, closes, retryable):
    row = next(iter(REGISTRY.values()))._replace(effect=effect)
    assert (row.closes, row.retryable) == (closes, retryable)


def test_failed_signature_closes_and_what_the_rules_refuse_does_not():
    assert REGISTRY[Code.BAD_SIGNATURE].closes
    codes = (Code.NOT_YOUR_TURN, Code.ILLEGAL_ACTION, Code.VOID_BET, Code.STALE_POSITION)
    assert not any(REGISTRY[code].closes for code in codes)


def test_remote_error_carries_what_to_answer():
    error = RemoteError(Code.BAD_OPTION, "expected 1 to 3", field="options/match", re=7)
    assert (error.code, str(error), error.field, error.re) == (
        Code.BAD_OPTION,
        "expected 1 to 3",
        "options/match",
        7,
    )
