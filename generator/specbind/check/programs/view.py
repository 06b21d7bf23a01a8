"""The Python binding's view, by cffi in ABI mode."""

from cffi import FFI
from llama_speculative._raw import CDEF, CONSTANTS, PREFIX, SIGNATURES, STRUCTS

ffi = FFI()
ffi.cdef(CDEF)
for name in STRUCTS:
    struct = PREFIX + name
    print("struct", name, ffi.sizeof(struct), ffi.alignof(struct))
    for field, place in ffi.typeof(struct).fields:
        print("field", name, field, place.offset, ffi.sizeof(place.type))
for (owner, name), value in CONSTANTS.items():
    print("constant", owner or "-", name, value)
for name, number in SIGNATURES.items():
    print("function", name, f"{number:x}")
