"""One YAML file in, a C header, a checked C shim and language bindings out."""

__version__ = "0.1.0"
