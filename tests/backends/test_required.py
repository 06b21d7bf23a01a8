"""Every strategy on every backend that CI requires, and what makes such a run a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from click.testing import CliRunner

from specbind.cli import main
from specbind.harness.backend_table import TABLE, column, markdown, of_report, read_record, rows
from specbind.harness.backends import Outcome, all_backends, names, run_backend
from specbind.harness.strategies import ALL
from specbind.native.errors import NativeError
from specbind.native.paths import checkout
from specbind.native.progress import Silent

BACKENDS = all_backends()
REQUIRED = [name for name, backend in BACKENDS.items() if backend.required]
Run = Callable[[str], Outcome]


def test_what_ci_requires() -> None:
    assert REQUIRED == ["cpu", "cpu-variants", "blas", "rpc"]


@pytest.mark.parametrize("name", REQUIRED)
def test_every_strategy_gives_the_target_s_tokens(name: str, outcome: Run) -> None:
    """Tokens, drafted and accepted are those of the arithmetic, and logits those of the portable processor where they must be."""
    ran = outcome(name)
    assert ran.failures == []
    allowed = {"exact"} if BACKENDS[name].exact else {"exact", "within tolerance"}
    assert {case: row["verdict"] for case, row in ran.strategies.items() if row["verdict"] not in allowed} == {}
    assert list(ran.strategies) == list(ALL)
    for case, row in ran.strategies.items():
        expected = ALL[case].expected()
        assert (row["drafted"], row["accepted"]) == (expected.drafted, expected.accepted), case


@pytest.mark.parametrize("name", REQUIRED)
def test_what_else_a_backend_can_get_wrong(name: str, outcome: Run) -> None:
    own = {"blas": ["blas"], "cpu-variants": ["cpu-variants"]}.get(name, [])
    checks = outcome(name).checks
    assert list(checks) == ["layout", "rollback", "state", "four sequences", "placement", "missing device", *own]
    assert {check: row["what"] for check, row in checks.items() if row["verdict"] != "ok"} == {}


def test_blas_computed(outcome: Run) -> None:
    assert int(outcome("blas").checks["blas"]["what"].split()[0]) > 0


def test_the_others_are_compared_with_the_portable_processor(outcome: Run) -> None:
    assert all(row["logit_difference"] is None for row in outcome("cpu").strategies.values())
    assert all(row["logit_difference"] == 0 for row in outcome("rpc").strategies.values())


def test_a_layer_on_the_device_that_was_named(outcome: Run) -> None:
    assert outcome("rpc").checks["placement"]["what"] == "on RPC0; the draft on CPU when asked for"
    assert "there is no device 'Abacus7'; this build has CPU, RPC0" in outcome("rpc").checks["missing device"]["what"]


def test_a_required_backend_that_is_absent_is_a_failure(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    for required, failures in ((True, 1), (False, 0)):
        row = replace(BACKENDS["blas"], needs=("/nowhere/cblas.h",), required=required)
        monkeypatch.setattr("specbind.harness.backends.all_backends", lambda row=row: {"blas": row})
        absent = run_backend("blas", tmp_path, Silent())  # type: ignore[arg-type]
        assert absent.reason == "/nowhere/cblas.h is missing: apt install libopenblas-dev pkg-config"
        assert len(absent.failures) == failures


def test_a_backend_that_is_there_and_breaks_is_a_failure_though_not_required() -> None:
    broken = Outcome(replace(BACKENDS["opencl"], needs=()), "Building llama.cpp failed")
    assert broken.failures == ["opencl: Building llama.cpp failed"]
    wrong = Outcome(BACKENDS["cuda"], report={"strategies": {"draft-simple": {"verdict": "wrong", "reason": "token 3 is not the target's own"}},
                                              "checks": {"state": {"verdict": "wrong", "what": "AssertionError"}}})  # fmt: skip
    assert wrong.failures == ["cuda, draft-simple: token 3 is not the target's own", "cuda, state: AssertionError"]


def test_the_table(outcome: Run) -> None:
    columns = [column(outcome("cpu")), column(outcome("rpc")), column(Outcome(BACKENDS["metal"], "xcrun is missing"))]
    shown = {row[0]: row[1:] for row in rows(columns)}
    assert shown["draft-eagle3"] == ["exact", "exact", "-"]
    assert shown["rollback"] == ["ok", "ok", "-"]
    text = markdown(columns)
    assert "| draft-eagle3 | exact | exact | - |" in text
    assert "- **metal**: not run: xcrun is missing" in text


def test_the_committed_table_is_that_of_the_result_files() -> None:
    reports = [report for name in BACKENDS if (report := read_record(name)) is not None]
    assert {report["backend"] for report in reports} >= set(REQUIRED)
    for report in reports:
        assert list(report["strategies"]) == list(ALL), report["backend"]
    assert (checkout() / TABLE).read_text(encoding="utf-8") == markdown([of_report(report) for report in reports])


def test_names() -> None:
    assert names("all") == list(BACKENDS)
    assert names("rpc,cpu") == ["cpu", "rpc"]
    with pytest.raises(NativeError, match=r"--backend abacus: there is no such backend\. There are: cpu, cpu-variants, "):
        names("abacus")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--backend", "abacus"], "there is no such backend"),
        (["--record"], "--record keeps the results of --backend"),
        (["--backend", "cpu", "--matrix"], "two tables"),
    ],
)
def test_wrong_usage(arguments: list[str], words: str) -> None:
    result = CliRunner().invoke(main, ["test", *arguments])
    assert result.exit_code in (1, 2)
    assert words in result.output
