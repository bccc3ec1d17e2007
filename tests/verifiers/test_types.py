"""The library in JavaScript is typed by its comments, strictly: TypeScript's compiler finds nothing to complain about."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TYPESCRIPT = ROOT / ".venv" / "typescript" / "node_modules"
"""Where .ci/run has npm put it, at the versions that are named there; nobody who uses the library needs it."""

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not TYPESCRIPT.exists(),
        reason="no TypeScript in .venv/typescript: .ci/run says how npm puts it there",
    ),
]

WRONG = "import { toHex } from './bytes.mjs'\nexport const length = (text) => toHex(text).size\n"


def test_every_value_has_a_type_and_is_used_as_one_and_where_not_it_is_complained_about(tmp_path) -> None:
    """The compiler takes seconds: it is run once, over the page and its library and one file of mistakes."""
    project = tmp_path / "truc_web"
    shutil.copytree(ROOT / "client" / "truc_web", project, ignore=shutil.ignore_patterns("__pycache__"))
    (project / "lib" / "wrong.mjs").write_text(WRONG)
    compiler = [TYPESCRIPT / ".bin" / "tsc", "-p", project, "--typeRoots", TYPESCRIPT / "@types"]
    compiler.append("--skipLibCheck")  # what others declare, such as all of a browser, is not ours to check
    told = subprocess.run(compiler, capture_output=True, text=True, check=False).stdout.splitlines()
    found = [line.split(": ")[:2] for line in told]
    assert [(Path(place.partition("(")[0]).name, what) for place, what in found] == [
        ("wrong.mjs", "error TS7006"),
        ("wrong.mjs", "error TS2339"),
    ], told
