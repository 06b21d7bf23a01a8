"""C names of everything in a spec. All other code asks here; nothing else glues a prefix to a name."""

from __future__ import annotations

from specbind.spec import model as m

RESERVED = frozenset(
    """auto break case char const continue default do double else enum extern float for goto if inline int long register
    restrict return short signed sizeof static struct switch typedef union unsigned void volatile while _Bool _Complex
    _Imaginary alignas alignof and and_eq asm bool catch class compl concept constexpr const_cast decltype delete
    dynamic_cast explicit export false friend mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public reinterpret_cast requires static_assert static_cast template this throw true try typeid typename
    using virtual wchar_t xor xor_eq""".split()
)


class CNaming:
    """Names of one spec under its prefix."""

    def __init__(self, spec: m.Spec) -> None:
        self.spec = spec
        self.prefix = spec.prefix
        self.macro_prefix = spec.prefix.upper()

    @property
    def header(self) -> str:
        return f"{self.prefix.rstrip('_')}.h"

    @property
    def library(self) -> str:
        """File stem of the shared library without `lib`."""
        return self.prefix.rstrip("_")

    @property
    def export_macro(self) -> str:
        return f"{self.macro_prefix}API"

    def function(self, name: str) -> str:
        return self.prefix + name

    def struct(self, name: str) -> str:
        return self.prefix + name

    def enum(self, name: str) -> str:
        return self.prefix + name

    def callback(self, name: str) -> str:
        return self.prefix + name

    def handle(self, name: str) -> str:
        """The struct tag and typedef of a handle; its `c_name` with this spec's prefix."""
        return self.spec.handle(name).c_name

    def enum_value(self, enum: m.Enum, value: m.EnumValue) -> str:
        return f"{self.macro_prefix}{enum.prefix.upper()}{value.name}"

    def constant(self, constant: m.Constant) -> str:
        return f"{self.macro_prefix}{constant.name}"

    def macro(self, name: str) -> str:
        return self.macro_prefix + name

    def type(self, kind: m.Type) -> str:
        """C type of a value: `int32_t`, `const char *`, `void *`, `llama_speculative *`, a callback's typedef."""
        if isinstance(kind, m.Scalar):
            return kind.c_name
        if isinstance(kind, m.Str):
            return "const char *"
        if isinstance(kind, m.Pointer):
            return "void *"
        return {
            "enum": lambda: self.enum(kind.name),
            "struct": lambda: f"const {self.struct(kind.name)} *",
            "handle": lambda: f"{self.handle(kind.name)} *",
            "foreign": lambda: f"struct {kind.name} *",
            "callback": lambda: self.callback(kind.name),
        }[kind.kind]()

    def element(self, kind: m.Type) -> str:
        """C type of an array's element: a struct by name, the rest as in `type`."""
        if isinstance(kind, m.Ref) and kind.kind == "struct":
            return self.struct(kind.name)
        return self.type(kind)

    def parameter_type(self, param: m.Param) -> str:
        """C type of a parameter, `*` included."""
        P = m.Passing
        if param.passing is P.VALUE:
            return self.type(param.type)
        element = self.element(param.type)
        if param.passing in (P.STRUCT_IN, P.ARRAY_IN):
            return pointer_to(element, const=True)
        if param.passing is P.ADDRESS_OUT:
            return f"const {element} **"
        return pointer_to(element, const=False)

    def field_type(self, field: m.Field) -> str:
        if field.array:
            return pointer_to(self.element(field.type), const=True)
        return self.type(field.type)

    def return_type(self, item: m.Function | m.Callback) -> str:
        return "void" if item.returns is None else self.type(item.returns)


def pointer_to(element: str, *, const: bool) -> str:
    """`int32_t` -> `const int32_t *`; `const char *` -> `const char * const *`."""
    if element.endswith("*"):
        return f"{element} const *" if const else f"{element}*"
    return f"const {element} *" if const else f"{element} *"


def neutral_value(enum: m.Enum, value: m.EnumValue) -> str:
    """`FINISH_EOG`, `OK`: an enum value without the library's prefix."""
    return enum.prefix.upper() + value.name


def with_prefix(spec: m.Spec, prefix: str) -> m.Spec:
    """The same ABI under another symbol prefix, handles included."""
    from dataclasses import replace

    old, new = spec.prefix.rstrip("_"), prefix.rstrip("_")
    return replace(
        spec,
        prefix=prefix,
        handles=tuple(replace(h, c_name=new + h.c_name.removeprefix(old)) for h in spec.handles),
        _index={},
    )
