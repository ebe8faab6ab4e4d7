# Two commands do all the set-up on a machine with Python 3.11+ and make: `make demo`, `make test`.
# uv is bootstrapped into .uv/ where it is not installed; nothing outside this folder is touched.

PYTHON ?= python3
UV := $(shell command -v uv 2>/dev/null || echo .uv/bin/uv)
RUN := .venv/bin
PYTEST_WORKERS ?= 2

# Shapes in signatures are checked as these run. In a run of its own: beartype draws from the
# global generator, which the contract suites watch.
comma := ,
empty :=
SHAPED := $(subst $(empty) $(empty),$(comma),$(addprefix cuescope_sdk.,stats ranking calibration clustering figures \
	faithfulness.schedule faithfulness.perturbing faithfulness.curves faithfulness.areas) \
	$(addprefix cuescope_trove.,scoring resampling grading) $(addprefix cuescope_cci.,importance regions sides) \
	$(addprefix cuescope_moving_shapes.,motion cues drawing) cuescope_toy.network \
	$(addprefix cuescope_toy.fusion.,network reading fitting) cuescope_sdk.torch.fusion \
	$(addprefix cuescope_quag.simulation.,data network training figure))
SHAPED_TESTS := $(wildcard $(addsuffix .py,$(addprefix sdk/tests/test_,stats ranking calibration clustering figures faithfulness) \
	plugins/methods/trove/tests/test_scoring $(addprefix plugins/methods/cci/tests/test_,importance regions sides) \
	$(addprefix plugins/datasets/moving-shapes/tests/test_,motion cues drawing) \
	$(addprefix plugins/models/toy/tests/test_,network fusion_parts) sdk/tests/test_fusion_attention \
	plugins/methods/quag/tests/test_simulation))

.PHONY: demo demo-spurlens test check bench docs clean

demo: .venv/ready
	$(RUN)/cuescope demo

# A toy that answers yes or no, trained on scenes in which three things give a class away.
demo-spurlens: .venv/ready
	$(RUN)/cuescope audit spurlens \
		--model toy-fusion:object-scenes:presence -M patches=4 -M epochs=10 \
		--data object-scenes -D val=2000 -O k=200 \
		--tool proposer=co-occurrence --tool detector=annotations

# A thread a worker: more of them than cores wait for each other most of the time.
test: export OMP_NUM_THREADS := 1
test: export PATH := $(CURDIR)/.uv/bin:$(PATH)
test: .venv/ready
	$(RUN)/pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder --durations 30
	$(RUN)/pytest -q --jaxtyping-packages=$(SHAPED),beartype.beartype $(SHAPED_TESTS)

check: .venv/ready
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy -p cuescope -p cuescope_sdk -p cuescope_trove -p cuescope_toy \
		-p cuescope_open_clip -p cuescope_moving_shapes -p cuescope_folder \
		-p cuescope_cci -p cuescope_saliency -p cuescope_transformers -p cuescope_scenes \
		-p cuescope_quag -p cuescope_videoqa -p cuescope_clavi -p cuescope_activitynet_qa \
		-p cuescope_msrvtt_qa -p cuescope_next_qa -p cuescope_charades_sta \
		-p cuescope_coco -p cuescope_imagenet -p cuescope_hard_imagenet -p cuescope_spurious_imagenet \
		-p cuescope_celeba -p cuescope_waterbirds -p cuescope_counter_animals \
		-p cuescope_detectors -p cuescope_openai -p cuescope_proposers -p cuescope_spurlens \
		-p cuescope_step_grounding -p cuescope_traces -p cuescope_shape_world -p cuescope_verifiers -p cuescope_sentences \
		-p cuescope_star -p cuescope_r2r -p cuescope_teach
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
