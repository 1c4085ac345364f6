# The two commands of a newcomer: make demo, make test. Both set up what they need in .venv.

PYTHON ?= python3
BIN = .venv/bin

.PHONY: demo test setup lint pytest

# What is imported is compiled then, and kept: pip would compile all of torch and JAX first, in a minute.
unexport PYTHONDONTWRITEBYTECODE

.venv/ready: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -q --no-compile torch==2.13.0 -e '.[verify,dev]'
	touch .venv/ready

setup: .venv/ready

demo: .venv/ready
	$(BIN)/torch-to-jax convert fixtures/torch/gpt.py -o build/demo/gpt_jax.py
	$(BIN)/torch-to-jax verify fixtures/torch/gpt.py::GPT --init 'GPTConfig()' --inputs 'i64[2,8]<32 i64[2,8]<32'

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/mypy

pytest: .venv/ready
	$(BIN)/pytest -n 2 --dist worksteal

test: .venv/ready
	$(MAKE) --jobs 2 lint pytest
