"""The library in JavaScript is typed by its comments, strictly: TypeScript's compiler finds nothing to complain about."""

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


def complaints(project: Path) -> list[str]:
    compiler = [TYPESCRIPT / ".bin" / "tsc", "-p", project, "--typeRoots", TYPESCRIPT / "@types"]
    return subprocess.run(compiler, capture_output=True, text=True, check=False).stdout.splitlines()


def test_every_value_of_the_library_has_a_type_and_is_used_as_one() -> None:
    assert complaints(ROOT / "client" / "truc_web") == []


def test_what_is_not_typed_or_used_wrongly_is_complained_about(tmp_path) -> None:
    (tmp_path / "lib").mkdir()
    for name in ("tsconfig.json", "lib/bytes.mjs"):
        (tmp_path / name).write_bytes((ROOT / "client" / "truc_web" / name).read_bytes())
    (tmp_path / "lib" / "wrong.mjs").write_text(WRONG)
    assert [line.split(": ")[1] for line in complaints(tmp_path)] == ["error TS7006", "error TS2339"]
