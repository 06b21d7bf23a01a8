"""What drives the built library in tests: models whose answer is known, and llama.h through a small helper."""
