"""C's parameters are put together again for languages with slices, objects and results."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specbind.emit import calls
from specbind.emit.calls import Part
from specbind.emit.core import Named, backends
from specbind.spec import model as m
from specbind.spec.load import load

SPEC = load(Path(__file__).resolve().parents[2] / "abi" / "llama_speculative.yaml")


def call(name: str) -> calls.Call:
    return calls.call(SPEC, SPEC.function(name))


def parts(name: str) -> list[tuple[str, Part]]:
    return [(a.param.name, a.part) for a in call(name).arguments()]


def test_every_parameter_has_its_place() -> None:
    for function in SPEC.functions:
        assert [name for name, _ in parts(function.name)] == [p.name for p in function.params]


def test_an_array_a_callback_and_a_buffer_are_one_thing_each() -> None:
    generate = call("session_generate")
    assert [i.param.name for i in generate.inputs] == ["tokens", "params", "callback"]
    assert [o.param.name for o in generate.outputs] == ["out"]
    assert parts("session_generate")[1:6] == [
        ("tokens", Part.VALUE), ("n_tokens", Part.LENGTH), ("params", Part.VALUE), ("callback", Part.VALUE), ("user", Part.USER),
    ]  # fmt: skip
    assert parts("get_draft") == [
        ("spec", Part.SELF), ("seq_id", Part.VALUE), ("out", Part.VALUE), ("capacity", Part.CAPACITY), ("n_out", Part.COUNT),
    ]  # fmt: skip
    assert parts("get_logits")[-2:] == [("logits", Part.VALUE), ("n_vocab", Part.LENGTH)]


def test_a_call_belongs_to_the_object_it_is_called_on_or_makes() -> None:
    assert (call("decode").handle, call("decode").constructs) == (SPEC.handle("spec"), False)
    assert (call("session_open").handle, call("session_open").constructs) == (SPEC.handle("session"), True)
    assert call("requirements").handle is None
    listed = [c.function.name for h in (*SPEC.handles, None) for c in calls.methods(SPEC, h)]
    missing = {f.name for f in SPEC.functions} - set(listed)
    assert missing == {
        "identity_get", "last_error", "free", "session_close", "session_last_error", "params_init", "session_params_init", "gen_params_init",
    }  # fmt: skip
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(
    ("function", "handle", "name"),
    [
        ("session_tokenize", "session", "tokenize"),
        ("seq_info", "spec", "seq_info"),
        ("get_logits", "spec", "logits"),
        ("get_accepted_tokens", "spec", "accepted_tokens"),
        ("get_draft", "spec", "draft_tokens"),  # `draft` is another function
    ],
)
def test_a_method_is_called_what_it_is_called_on_its_object(function: str, handle: str, name: str) -> None:
    assert calls.short_name(SPEC, SPEC.function(function), SPEC.handle(handle)) == name


def test_an_error_is_about_the_sequence_that_the_call_changes() -> None:
    copy, decode = call("seq_copy").sequence, call("decode").sequence
    assert copy is not None and copy.name == "dst"
    assert decode is None


def test_fields_that_only_serve_others_are_not_shown() -> None:
    shown = {s.name: [member.field.name for member in calls.members(s)] for s in SPEC.structs}
    assert shown["batch"] == ["token", "pos", "seq_id", "output"]
    assert shown["piece"] == ["n_tokens", "n_tokens_draft", "token", "text"]
    assert "progress" in shown["session_params"] and "progress_user" not in shown["session_params"]
    assert "reserved" not in shown["params"] and "struct_size" not in shown["params"]


def test_structs_are_given_received_or_both() -> None:
    given = [s.name for s in calls.given_structs(SPEC)]
    received = [s.name for s in calls.received_structs(SPEC)]
    assert given == ["params", "batch", "session_params", "chat_message", "gen_params"]
    assert received == ["build_details", "needs", "selection", "seq_status", "counters", "handles", "piece", "gen_result"]


@pytest.mark.parametrize("language", ["csharp", "go", "rust", "swift"])
def test_no_two_names_of_a_binding_are_the_same_and_a_clash_is_seen(language: str) -> None:
    backend = backends()[language]
    assert isinstance(backend, Named)

    def clashes(spec: m.Spec) -> set[str]:
        seen: dict[tuple[str, str], int] = {}
        for name in backend.names(spec):
            seen[name.scope, name.identifier] = seen.get((name.scope, name.identifier), 0) + 1
        return {identifier for (_, identifier), count in seen.items() if count > 1}

    assert clashes(SPEC) == set()
    finish = replace(SPEC.enum("finish"), name="spec")  # as the handle
    assert clashes(replace(SPEC, enums=(*SPEC.enums, finish), _index={})) >= {"Spec"}
