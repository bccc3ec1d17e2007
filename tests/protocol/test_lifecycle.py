"""The steps of tables and matches that the reference draws are those that are made."""

from functools import cache
from pathlib import Path
from typing import get_args, get_type_hints

from rows import each_row

from truc_docs.protocol.states import PHASE_STEPS, PHASES, TABLE_STATES, TABLE_STEPS
from truc_protocol.audit import Auditor
from truc_protocol.messages import TableState
from truc_protocol.records import Phase, parse, tag_of
from truc_protocol.transcript import read_transcript

VECTORS = Path(__file__).parents[1] / "vectors"
TRANSCRIPTS = sorted([*VECTORS.glob("transcripts/*.truc"), *VECTORS.glob("blind/*.truc")])


@cache
def phase_steps(path):
    """Replay a transcript, and return every step from one phase to another with the record that made it."""
    transcript = read_transcript(path.read_bytes())
    auditor, before, steps = Auditor(transcript.document), Phase.SETUP, set()
    for record in transcript.records:
        auditor.feed(record)
        after = Phase.SETUP if auditor.ledger is None else auditor.ledger.phase
        if after is not before:
            steps.add((before.value, tag_of(parse(record)).removeprefix("truc/1/"), after.value))
        before = after
    return steps


def drawn():
    return {
        (step.before, event, step.after)
        for step in PHASE_STEPS
        for event in step.event.split(" that ")[0].replace(", or ", " or ").split(" or ")
    }


@each_row("path", TRANSCRIPTS)
def test_every_step_of_a_match_is_drawn(path):
    assert phase_steps(path) <= drawn()


def test_every_step_that_is_drawn_is_made_in_some_match():
    made = set().union(*map(phase_steps, TRANSCRIPTS))
    assert drawn() - made <= {
        ("between", "resign", "over"),
        ("hand", "rule", "over"),
        ("hand", "resign", "over"),
    }


def test_every_phase_is_told():
    assert tuple(PHASES) == tuple(Phase)


def test_states_of_a_table_are_those_of_its_notice():
    stated = get_args(get_type_hints(TableState)["state"])
    assert set(TABLE_STATES) == {*stated, "closed"}


def test_steps_of_a_table_are_between_its_states():
    assert {state for step in TABLE_STEPS for state in (step.before, step.after)} == set(TABLE_STATES)
