"""A spec without what bindings stand on is refused with the thing that is missing, in every language that checks it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from specbind.emit.core import NotExpressible, backends
from specbind.spec.load import load

SPEC = load(Path(__file__).resolve().parents[2] / "abi" / "llama_speculative.yaml")
WITHOUT = {
    "no function 'identity_get'": replace(SPEC, functions=tuple(f for f in SPEC.functions if f.name != "identity_get"), _index={}),
    "no struct 'identity_entry'": replace(SPEC, structs=tuple(s for s in SPEC.structs if s.name != "identity_entry"), _index={}),
    "no value ERROR_BUSY": replace(
        SPEC,
        enums=tuple(replace(e, values=tuple(v for v in e.values if v.name != "ERROR_BUSY")) for e in SPEC.enums),
        _index={},
    ),
    "no handle has a 'last_error'": replace(SPEC, handles=tuple(replace(h, last_error=None) for h in SPEC.handles), _index={}),
}


@pytest.mark.parametrize("language", ["csharp", "dart", "swift"])
@pytest.mark.parametrize("message", list(WITHOUT))
def test_a_spec_without_what_bindings_stand_on_is_refused(language: str, message: str) -> None:
    with pytest.raises(NotExpressible, match=message):
        backends()[language].render(WITHOUT[message])
