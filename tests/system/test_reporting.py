"""What a long run says at its end, and what it leaves."""

import pytest
from chaos.reporting import report, run_in_folder


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Return where new folders are made."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


async def kept(folder) -> str:
    (folder / "data").write_text("something")
    return "matches 3"


async def broken(folder) -> str:
    await kept(folder)
    raise ValueError("signed twice")


def test_run_that_keeps_every_promise_says_its_figures_and_leaves_nothing(folders, capsys):
    assert run_in_folder("plan", kept) == 0
    assert (capsys.readouterr().out, list(folders.iterdir())) == ("plan: matches 3\n", [])


def test_run_that_breaks_a_promise_fails_and_leaves_its_folder(folders, capsys):
    assert run_in_folder("plan", broken) == 1
    (folder,) = folders.iterdir()
    told = capsys.readouterr()
    assert (folder / "data").exists()
    assert told.out == f"plan: failed; everything is left in {folder}\n"
    assert "ValueError: signed twice" in told.err


@pytest.mark.parametrize(("violations", "status"), [([], 0), (["a gap"], 1)])
def test_status_tells_whether_anything_was_violated(violations, status, capsys):
    assert report("figures", violations) == status
    assert capsys.readouterr() == ("figures\n", "".join(f"{violation}\n" for violation in violations))
