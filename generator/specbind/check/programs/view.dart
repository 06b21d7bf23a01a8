
// The Dart package's view, at the end of a copy of its layout.dart: sizeOf, and which bytes a setter writes.
void main() {
  for (final s in _structs) {
    print('struct ${s.name} ${s.size} 0');
    s.fields.forEach((name, write) {
      final (offset, size) = s.place(write);
      print('field ${s.name} $name $offset $size');
    });
  }
  _constants.forEach((key, value) {
    final (owner, name) = key;
    print('constant ${owner.isEmpty ? '-' : owner} $name $value');
  });
  _signatures.forEach((name, hash) => print('function $name $hash'));
}
