"""What a declaration says beside its type: its comment, and whether it is deprecated."""

from __future__ import annotations

import ctypes
import re
from typing import Any


def text(cursor: Any) -> str:
    """The comment at a declaration, without its signs."""
    raw: str = cursor.raw_comment or ""
    body = re.sub(r"^/\*+!?|\*+/$", "", raw.strip()) if raw.startswith("/*") else raw
    lines = [re.sub(r"^\s*(///?<?!?|\*+(?!/)|//!?<?)\s?", "", line).rstrip() for line in body.splitlines()]
    return "\n".join(lines).strip()


def deprecation(cursor: Any) -> str | None:
    """What the compiler says of a deprecated declaration: empty if it only says that it is one; None if it is not."""
    from clang import cindex

    if cursor.availability != cindex.AvailabilityKind.DEPRECATED:
        return None
    call = cindex.conf.lib.clang_getCursorPlatformAvailability
    call.argtypes = [cindex.Cursor] + [ctypes.c_void_p] * 5 + [ctypes.c_int]
    always, message = ctypes.c_int(), cindex._CXString()
    unavailable, reason = ctypes.c_int(), cindex._CXString()
    parts = map(ctypes.byref, (always, message, unavailable, reason))
    call(cursor, *parts, None, 0)
    get = cindex.conf.lib.clang_getCString
    said = get(message)
    return said.decode() if isinstance(said, bytes) else str(said or "")
