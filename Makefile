# The two commands of a fresh machine. Both set up a virtual environment first, and again when pyproject.toml changes.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready

.PHONY: demo test setup clean

demo: setup
	$(BIN)/specbind generate
	$(BIN)/specbind build
	$(BIN)/specbind demo

test: setup
	$(BIN)/tox

setup: $(READY)

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "specbind needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Set PYTHON=python3.x." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) 2>/dev/null || \
	  { rm -rf $(VENV); echo "python3 -m venv does not work here. Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	$(BIN)/pip install --quiet --disable-pip-version-check -e . "tox>=4,<5"
	@touch $(READY)

clean:
	rm -rf $(VENV) .tox
