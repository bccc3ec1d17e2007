"""Runs a command under the system call filter of a unit of systemd, which itself cannot run here.

`python -m system.confined UNIT COMMAND...` reads what the unit allows and denies, asks systemd which calls are meant, and has libseccomp
hold the command to it, as systemd would; MemoryDenyWriteExecute, no new privileges, and the limits of core and open files too.
"""

import ctypes
import mmap
import os
import re
import resource
import subprocess
import sys
from errno import EPERM
from functools import cache
from pathlib import Path
from typing import Final

_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_MASKED_EQUAL: Final = 7


class Comparison(ctypes.Structure):
    """A condition on an argument of a call (scmp_arg_cmp)."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("mask", ctypes.c_uint64),
        ("value", ctypes.c_uint64),
    )


def values(unit: str, name: str) -> list[str]:
    """Return what a unit sets a name to, line by line."""
    return re.findall(rf"^{name}=(.*)$", unit, re.MULTILINE)


@cache
def groups() -> dict[str, list[str]]:
    """Return what stands in each group of calls that systemd has: names of calls, and of other groups."""
    shown = subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True, check=True)
    found: dict[str, list[str]] = {}
    for line in shown.stdout.splitlines():
        if line.startswith("@"):
            entries = found[line.strip()] = []
        elif line.strip() and not line.strip().startswith("#"):
            entries.append(line.strip())
    return found


def calls(group: str) -> set[str]:
    """Return the names of the calls in a group of systemd, with those of the groups in it."""
    entries = groups()[group]
    return set().union(*(calls(entry) if entry.startswith("@") else {entry} for entry in entries))


def allowed(unit: str) -> set[str]:
    """Return the calls that a unit allows."""
    found = calls("@default")  # which systemd always allows
    for line in values(unit, "SystemCallFilter"):
        named = set().union(*(calls(group) for group in line.removeprefix("~").split()))
        found = found - named if line.startswith("~") else found | named
    return found


def confine(unit: str) -> None:
    """Hold this process to the unit, and whatever it becomes."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    number = library.seccomp_syscall_resolve_name
    rules = ctypes.c_void_p(library.seccomp_init(_ERRNO | EPERM))
    executable = set(values(unit, "MemoryDenyWriteExecute")) == {"yes"}
    for call in allowed(unit):
        if number(call.encode()) >= 0 and not (executable and call in {"mmap", "mprotect", "pkey_mprotect"}):
            checked(library.seccomp_rule_add(rules, _ALLOW, number(call.encode()), 0))
    if executable:
        for call in (b"mprotect", b"pkey_mprotect"):
            never = Comparison(2, _MASKED_EQUAL, mmap.PROT_EXEC, 0)
            checked(library.seccomp_rule_add_array(rules, _ALLOW, number(call), 1, ctypes.byref(never)))
        for bit in (mmap.PROT_EXEC, mmap.PROT_WRITE):
            one = Comparison(2, _MASKED_EQUAL, bit, 0)
            checked(library.seccomp_rule_add_array(rules, _ALLOW, number(b"mmap"), 1, ctypes.byref(one)))
    checked(library.seccomp_load(rules))


def checked(status: int) -> None:
    """Raise what libseccomp says went wrong."""
    if status < 0:
        raise OSError(-status, os.strerror(-status))


def limit(unit: str) -> None:
    """Take over the unit's limits, as far as this machine has them."""
    for name, kind in (("LimitNOFILE", resource.RLIMIT_NOFILE), ("LimitCORE", resource.RLIMIT_CORE)):
        for value in values(unit, name):
            resource.setrlimit(kind, (int(value), int(value)))


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text()
    limit(text)
    confine(text)
    os.execv(sys.argv[2], sys.argv[2:])
