"""Libraries that look like the shim and are not: to see a binding's load-time check work, and name clashes do no harm.

A doctored library has every symbol, an identity table from another spec, and nothing behind it. It compiles in a blink,
because what a binding must notice, it must notice before it calls anything else.
"""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

from specbind.emit.c.naming import CNaming
from specbind.spec import model as m

EXPORTED = '__attribute__((visibility("default")))'

def with_fields_swapped(spec: m.Spec, struct: str, first: str, second: str) -> m.Spec:
    """The same ABI with two fields of a struct in each other's place; of the same type, so that the size stays."""
    old = spec.struct(struct)
    place = {first: old.field(second), second: old.field(first)}
    if old.field(first).type != old.field(second).type:
        raise ValueError(f"{struct}.{first} and .{second} are of different types")
    new = replace(old, fields=tuple(place.get(f.name, f) for f in old.fields))
    return replace(spec, structs=tuple(new if s.name == struct else s for s in spec.structs), _index={})


def compile_stub(spec: m.Spec, folder: Path, compiler: str = "cc") -> Path:
    """Compile a library with the symbols and the identity table of `spec`. Returns its path, with the shim's file name."""
    from specbind.emit.c import backend

    naming = CNaming(spec)
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in backend.render(spec).items():
        if path.endswith(".h") or path.endswith("identity_table.c"):
            (folder / Path(path).name).write_text(text, encoding="utf-8")
    (folder / "stub.c").write_text(stub_text(spec, naming), encoding="utf-8")
    (folder / "symbols.c").write_text(symbols_text(spec, naming), encoding="utf-8")
    library = folder / f"lib{naming.library}.so"
    sources = [str(folder / name) for name in ("stub.c", "symbols.c", "identity_table.c")]
    subprocess.run([compiler, "-shared", "-fPIC", "-fvisibility=hidden", "-o", str(library), *sources], check=True, capture_output=True, text=True)
    return library


def stub_text(spec: m.Spec, naming: CNaming) -> str:
    """The two functions that do something: what a library says of itself."""
    entry, details = naming.struct("identity_entry"), naming.struct("build_details")
    nothing, version = naming.macro("NOTHING"), naming.macro("VERSION")
    return f"""#include "identity_table.h"

int32_t {naming.function("build_info")}({details} * out) {{
    *out = ({details}) {{sizeof(*out), {version}, "", "", "", "", "", ""}};
    return 0;
}}

int32_t {naming.function("identity_get")}(size_t index, {entry} * out) {{
    uint32_t size = out->struct_size;
    if (index >= spb_identity_table_size) {{
        return {nothing};
    }}
    *out = spb_identity_table[index];
    out->struct_size = size;
    return 0;
}}
"""


def symbols_text(spec: m.Spec, naming: CNaming) -> str:
    """Every other function, which ends the process: a binding that calls it has believed the library."""
    names = [naming.function(f.name) for f in spec.functions if f.name not in ("build_info", "identity_get")]
    return "#include <stdlib.h>\n\n" + "".join(f"{EXPORTED} void {name}(void) {{ abort(); }}\n" for name in names)
