import fcntl
import os
import subprocess
from pathlib import Path

import pytest
from clients_elsewhere.programs import JAVA, JAVAC


@pytest.fixture(scope="session")
def keyed_java(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Return the command of the client in Java, which one worker compiles for all: that takes longer than a match."""
    own = tmp_path_factory.getbasetemp()
    classes = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "java"
    sources = Path(__file__).with_name("keyed").glob("*.java")
    with classes.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not classes.exists():
            subprocess.run([*JAVAC, "-d", classes.with_suffix(".new"), *sources], check=True)
            classes.with_suffix(".new").rename(classes)
    return (*JAVA, "-cp", str(classes), "keyed.Keyed")


@pytest.fixture
def client(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Return the command of a client, given it or the fixture that makes it."""
    return request.getfixturevalue(request.param) if isinstance(request.param, str) else request.param
