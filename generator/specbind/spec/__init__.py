"""Spec files: reading, checking and the model that the rest of the package works on."""
