"""The reference: everything that the spec says, as one Markdown page with links between what it names."""

from __future__ import annotations

from specbind.emit.core import FileMap
from specbind.spec import model as m


class ReferenceBackend:
    name = "reference"
    title = "Reference in Markdown"
    folders = ()

    def render(self, spec: m.Spec) -> FileMap:
        from specbind.emit.reference.package import render

        return render(spec)


backend = ReferenceBackend()
