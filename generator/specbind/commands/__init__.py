"""One module per command; `specbind.cli` imports a module only when its command runs."""
