# Two commands do all the set-up on a machine with Python 3.11+ and make: `make demo`, `make test`.
# uv is bootstrapped into .uv/ where it is not installed; nothing outside this folder is touched.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := .venv/bin
PYTEST_WORKERS ?= 2

.PHONY: demo test check bench docs real clean

demo: .venv/ready
	$(RUN)/cuescope demo

test: .venv/ready
	$(RUN)/pytest -n $(PYTEST_WORKERS) --dist loadgroup

check: .venv/ready
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy -p cuescope -p cuescope_sdk -p cuescope_trove -p cuescope_toy \
		-p cuescope_open_clip -p cuescope_moving_shapes -p cuescope_folder
	$(MAKE) --no-print-directory docs

bench: .venv/ready
	@for file in benchmarks/*.py; do echo "== $$file"; $(RUN)/python $$file || exit 1; done

docs: .venv/ready
	NO_MKDOCS_2_WARNING=true $(RUN)/mkdocs build --strict --site-dir site

clean:
	rm -rf .venv .uv site runs

# Synced again when any declared dependency changes.
.venv/ready: pyproject.toml core/pyproject.toml sdk/pyproject.toml $(wildcard plugins/*/*/pyproject.toml) | $(UV)
	$(UV) sync --quiet --compile-bytecode --python $(PYTHON)
	@touch $@

.uv/bin/uv:
	$(PYTHON) -m venv .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check uv
