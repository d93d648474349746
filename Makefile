# `make run` opens the app on a bundled study; `make test` checks everything. Both install what is missing.
.PHONY: run test lint types imports tests learning oldest docs notebooks bundle reproduced screenshots bench dist sbom audit attack fuzz soak random prepared clean

UV := $(shell command -v uv || echo .tools/bin/uv)

run:
	@tools/prepare.sh run
	@.venv/bin/elicit demo

test: prepared
	@$(MAKE) --no-print-directory lint types imports tests

reproduced screenshots notebooks bench attack fuzz soak random: prepared

prepared: # with what the tests need
	@tools/prepare.sh test

lint:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .

types:
	.venv/bin/mypy

imports:
	.venv/bin/lint-imports

tests: # with bytecode kept, also where Python was told to write none: each of many processes would compile everything anew
	PYTHONDONTWRITEBYTECODE= .venv/bin/pytest -n 2 --dist worksteal

learning: # what needs PyTorch, XGBoost and MLflow too, installed beside and for this run alone: some gigabytes
	@tools/prepare.sh tools
	$(UV) run --isolated --locked --all-extras --with xgboost --with mlflow pytest tests/metrics/models

oldest: # the tests with the oldest versions that pyproject.toml allows, whose own warnings do not count
	@tools/prepare.sh tools
	QT_QPA_PLATFORM=offscreen $(UV) run --no-project --isolated --resolution lowest-direct --with ".[app,cluster]" \
		--with "pytest>=8.2" --with "pytest-qt>=4.4" --with "pytest-xdist>=3.6" --with "hypothesis>=6.100" --with "pandas>=2.2" \
		python -m pytest -n 2 -o filterwarnings=default tests/*/ tests/test_old_files.py tests/test_surfaces.py \
		--ignore tests/metrics/models/test_drop_in.py --deselect tests/metrics/elicited/test_metric_file.py::test_the_published_schema_is_current

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

dist: # wheel and sdist, the same bytes wherever they are built
	@tools/prepare.sh tools
	SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(UV) build --build-constraints tools/build.txt --require-hashes

bundle: # the program without Python, one folder and an archive in dist/bundle
	@tools/prepare.sh run
	$(UV) run --isolated --locked --no-dev --extra app --with pyinstaller==6.22.3 --with pillow python tools/bundle/build.py

sbom: # what is installed with everything, as CycloneDX
	@tools/prepare.sh tools
	@mkdir -p dist
	$(UV) export --quiet --locked --no-dev --all-extras --format cyclonedx1.5 --output-file dist/elicit.cdx.json
	@echo "Wrote dist/elicit.cdx.json"

audit: # known vulnerabilities of what is locked; fails where there are any, and where a package could not be audited
	@tools/prepare.sh tools
	@python3 tools/audit.py $(UV)

attack: # what happens to answers when files, disks and processes fail; an hour and more
	.venv/bin/python reliability/attack.py

fuzz:
	.venv/bin/python reliability/fuzz.py --minutes 30

soak:
	.venv/bin/python reliability/soak.py

random: # keys, clicks and lines at random, for a quarter of an hour
	.venv/bin/python reliability/random_use.py

clean:
	rm -rf .venv .tools .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache dist docs/_build
