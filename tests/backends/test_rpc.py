"""RPC beyond one server and one client: two servers that share a model, a second client, and the death of a server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from specbind import native
from specbind.harness import rpc
from specbind.harness.oracle.catalogue import write_all
from specbind.harness.strategies import ALL
from specbind.native.errors import NativeError

CLIENT = Path(__file__).with_name("rpc_client.py")
PATIENCE = 120.0


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return next(iter(write_all(tmp_path_factory.mktemp("rpc-models")).values())).parent


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[list[rpc.Server]]:
    with rpc.servers(native.build(backend="rpc", latest=False), 2, tmp_path) as started:
        yield started


class Client:
    """A client that has generated ten tokens, and waits."""

    def __init__(self, models: Path, *endpoints: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(CLIENT), str(models), *endpoints], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def ready(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n", self.process.communicate()[1]

    def go_on(self) -> tuple[int, str]:
        """Exit code, and the last words on stdout."""
        out, err = self.process.communicate("\n", timeout=PATIENCE)
        return self.process.returncode, (out.strip().splitlines() or [err])[-1]


def right(said: str) -> dict[str, Any]:
    """What a client saw, with the target's own tokens and the counts of the arithmetic."""
    saw: dict[str, Any] = json.loads(said)
    expected = ALL["draft-simple"].expected()
    assert (saw["tokens"], saw["drafted"], saw["accepted"]) == (expected.tokens, expected.drafted, expected.accepted)
    return saw


def test_two_servers_share_a_model(servers: list[rpc.Server], model_folder: Path) -> None:
    client = Client(model_folder, *(server.endpoint for server in servers))
    client.ready()
    code, said = client.go_on()
    assert code == 0, said
    assert right(said)["servers"] == sorted(server.endpoint for server in servers)


def test_a_second_client_waits_for_the_first(servers: list[rpc.Server], model_folder: Path) -> None:
    first = Client(model_folder, servers[0].endpoint)
    first.ready()
    second = Client(model_folder, servers[0].endpoint)
    code, said = first.go_on()
    assert code == 0, said
    right(said)
    second.ready()
    code, said = second.go_on()
    assert code == 0, said
    right(said)


def test_the_death_of_a_server_ends_the_client(servers: list[rpc.Server], model_folder: Path) -> None:
    """llama.cpp aborts: nothing in the process can catch it. docs/backends.md advises a process of its own."""
    client = Client(model_folder, servers[0].endpoint)
    client.ready()
    servers[0].stop()
    code, _ = client.go_on()
    assert code == -signal.SIGABRT


def test_a_server_that_cannot_listen_says_so(servers: list[rpc.Server], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(rpc, "free_port", lambda: 1 << 17)
    program = rpc.compile_server(native.build(backend="rpc", latest=False), tmp_path)
    with pytest.raises(NativeError, match="The RPC server"):
        rpc.Server(program)
