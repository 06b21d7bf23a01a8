"""Getting and building llama.cpp and the shim."""

from specbind.native.build import BuildResult, build, find_library
from specbind.native.errors import NativeError

__all__ = ["BuildResult", "NativeError", "build", "find_library"]
