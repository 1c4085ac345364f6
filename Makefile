# The two commands of a newcomer: make demo, make test. Both set up what they need in .venv.

PYTHON ?= python3
BIN = .venv/bin

.PHONY: demo test setup lint

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q torch==2.13.0
	$(BIN)/pip install -q -e '.[verify,dev]'
	touch .venv/ready

setup: .venv/ready

demo: .venv/ready
	$(BIN)/torch-to-jax convert fixtures/torch/gpt.py -o build/demo/gpt_jax.py
	$(BIN)/torch-to-jax verify fixtures/torch/gpt.py::GPT --init 'GPTConfig()' --inputs 'i64[2,8]<32 i64[2,8]<32'

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest -n 2
