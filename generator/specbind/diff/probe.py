"""Run in a child process: loads a library and prints its identity table as JSON.

Loading runs code of the library and may bring the process down, so it is not done in the process that compares.
The layout of the two structs read here is the first part of the ABI's own; both are growable.
"""

from __future__ import annotations

import ctypes
import json
import sys


class Entry(ctypes.Structure):
    """`identity_entry`."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("kind", ctypes.c_int32),
        ("offset", ctypes.c_uint32),
        ("size", ctypes.c_uint32),
        ("value", ctypes.c_int64),
        ("hash", ctypes.c_uint64),
        ("owner", ctypes.c_char_p),
        ("item", ctypes.c_char_p),
    )


class Details(ctypes.Structure):
    """`build_details`."""

    _fields_ = (
        ("struct_size", ctypes.c_uint32),
        ("abi_version", ctypes.c_uint32),
        ("texts", ctypes.c_char_p * 5),
        ("spec_hash", ctypes.c_char_p),
    )


def probe(path: str, prefix: str) -> dict[str, object]:
    """Rows of the table in order, version and hash."""
    library = ctypes.CDLL(path)
    details = Details(ctypes.sizeof(Details))
    if getattr(library, f"{prefix}build_info")(ctypes.byref(details)) != 0:
        raise OSError(f"{prefix}build_info failed")
    rows: list[list[object]] = []
    get = getattr(library, f"{prefix}identity_get")
    get.argtypes = (ctypes.c_size_t, ctypes.POINTER(Entry))
    while True:
        entry = Entry(ctypes.sizeof(Entry))
        status = get(len(rows), ctypes.byref(entry))
        if status > 0:
            break
        if status < 0:
            raise OSError(f"{prefix}identity_get({len(rows)}) failed with {status}")
        rows.append([entry.kind, entry.offset, entry.size, entry.value, entry.hash, entry.owner.decode(), entry.item.decode()])
    version = details.abi_version
    return {
        "version": f"{version >> 16}.{version >> 8 & 255}.{version & 255}",
        "hash": (details.spec_hash or b"").decode(),
        "rows": rows,
    }


if __name__ == "__main__":
    try:
        json.dump(probe(*sys.argv[1:]), sys.stdout)
    except (OSError, AttributeError) as error:
        sys.exit(str(error))
