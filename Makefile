# `make run` opens the app on a bundled study; `make test` checks everything. Both install what is missing.
.PHONY: run test lint types imports tests docs notebooks reproduced screenshots bench attack fuzz soak clean

run:
	@tools/prepare.sh run
	@.venv/bin/elicit demo

test:
	@tools/prepare.sh test
	@$(MAKE) --no-print-directory lint types imports tests

lint:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types:
	.venv/bin/mypy

imports:
	.venv/bin/lint-imports

tests:
	.venv/bin/pytest -n 2 --dist worksteal

docs:
	@tools/prepare.sh docs
	.venv/bin/sphinx-build -W --keep-going -q -b html docs docs/_build
	@echo "Open docs/_build/index.html"

reproduced:
	.venv/bin/elicit reproduce all --out docs/method/reproduced --page docs/method/reproduced.md $(if $(DATA),--data $(DATA))

screenshots:
	.venv/bin/elicit screenshots docs/pictures/pages

notebooks:
	.venv/bin/python tools/notebooks.py

bench:
	.venv/bin/python benchmarks/measures.py
	.venv/bin/python benchmarks/elicitation.py

attack: # what happens to answers when files, disks and processes fail; an hour and more
	.venv/bin/python reliability/attack.py

fuzz:
	.venv/bin/python reliability/fuzz.py --minutes 30

soak:
	.venv/bin/python reliability/soak.py

clean:
	rm -rf .venv .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist docs/_build
