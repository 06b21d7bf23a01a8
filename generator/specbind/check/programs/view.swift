// The Swift package's view: MemoryLayout.
for s in Table.structs {
    print("struct", s.name, s.size, s.alignment)
    for f in s.fields {
        print("field", s.name, f.name, f.offset, f.size)
    }
}
for c in Table.constants {
    print("constant", c.owner.isEmpty ? "-" : c.owner, c.name, c.value)
}
for f in Table.functions {
    print("function", f.name, String(f.hash, radix: 16))
}
