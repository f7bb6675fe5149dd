"""A command in a real terminal, and all that it shows there."""

import os
import re
import signal
import struct
import subprocess

import pytest

CODE = re.compile(r"\x1b\[[?\d;]*[A-Za-z]")


def in_terminal(folder, command, columns=100, interrupt_at=None, **environment):
    """Run a command in a terminal; return its exit status and what was shown."""
    pty = pytest.importorskip("pty", reason="there are no terminals of this kind here")
    fcntl, termios = pytest.importorskip("fcntl"), pytest.importorskip("termios")
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    own = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR", "LINES")}
    with subprocess.Popen(
        command,
        cwd=folder,
        stdin=follower,
        stdout=follower,
        stderr=follower,
        env={**own, "TERM": "xterm-256color", **environment},
        start_new_session=True,
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                piece = os.read(leader, 4096)
            except OSError:  # what Linux says at the end
                break
            if not piece:
                break
            shown += piece
            if interrupt_at is not None and interrupt_at in shown:
                os.killpg(process.pid, signal.SIGINT)
                interrupt_at = None
    os.close(leader)
    return process.returncode, shown.decode()
