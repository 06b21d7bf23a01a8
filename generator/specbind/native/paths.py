"""Where things are: the checkout that this package runs from, and the user's cache that survives it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from specbind.cache import cache_dir as cache_dir
from specbind.native.errors import NativeError


def checkout() -> Path:
    """Root of the checkout, which holds `abi`, `native` and `ci`."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "native" / "CMakeLists.txt").is_file():
        raise NativeError(
            f"{root} is not a specbind checkout: native/CMakeLists.txt is missing. "
            "The shim is built from a checkout; install it with `pip install -e .`."
        )
    return root


def digest(*parts: str) -> str:
    """Short name for what `parts` say, stable over runs and machines."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
