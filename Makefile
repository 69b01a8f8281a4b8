# Two commands do everything: make demo, make test.
BIN := .venv/bin
# Marks of tests with real parts.
REAL := grid or browser or redis or postgres or slurm or prometheus or ldap
export PYTHONWARNINGS := default::DeprecationWarning:gridportal

.PHONY: demo serve setup setup-dev test test-slow test-quick fuzz fuzz-api check format bench bench-reports bench-load chaos clean help

help: ## This list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F ':.*## ' '{ printf "%-13s %s\n", $$1, $$2 }'

demo: .venv/.portal ## The portal, the emulated Grid and one verified job; ONCE=1 ends after it; PORT=, TOPOLOGY=
	@$(BIN)/gridportal demo $(if $(ONCE),--once) $(if $(PORT),--port $(PORT)) $(if $(TOPOLOGY),--topology $(TOPOLOGY))

serve: .venv/.portal ## The production set on this machine: PostgreSQL, Redis, web, worker, beat; WORKERS=, PORT=, GRID=
	@sh scripts/serve-deps.sh
	@GRIDPORTAL_HOME=$${GRIDPORTAL_HOME:-var/serve} $(BIN)/gridportal serve $(if $(PORT),--port $(PORT)) \
		$(if $(WORKERS),--workers $(WORKERS)) $(if $(GRID),--grid $(GRID))

setup: .venv/.portal ## The virtual environment with pinned dependencies, in .venv
setup-dev: .venv/.dev ## The same with the tools of the tests and checks

.venv/.portal: pyproject.toml constraints.txt scripts/setup.sh
	@[ -e .venv/.dev ] && [ .venv/.dev -nt pyproject.toml ] && [ .venv/.dev -nt constraints.txt ] || sh scripts/setup.sh portal
	@touch $@

.venv/.dev: pyproject.toml constraints.txt scripts/setup.sh
	@sh scripts/setup.sh dev
	@touch $@

test: .venv/.dev ## All tests, with whatever they need installed where that is allowed
	@sh scripts/test-deps.sh
	@sh scripts/test.sh "$(REAL)"

test-slow: .venv/.dev ## What make test leaves out: all of long tables and stories of which it has a part
	@sh scripts/test-deps.sh
	@sh scripts/test.sh "$(REAL)" slow

test-quick: .venv/.dev ## The tests without namespaces, browser and servers
	$(BIN)/pytest -q -n 2 -m "not bench and not slow and not ($(REAL))"

fuzz: .venv/.dev ## All property tests with new examples, again and again; MINUTES=, TESTS=
	@$(BIN)/python -m tests.fuzz --minutes $(or $(MINUTES),10) $(TESTS)

check: .venv/.dev ## Lint, formats, types, C sources, layers, deployment settings, migrations
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/djangofmt --quiet --check templates
	$(BIN)/oxfmt --check static
	@sh scripts/check-c.sh
	GRIDPORTAL_HOME=var/check $(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	GRIDPORTAL_SECURE_COOKIES=1 GRIDPORTAL_HOME=var/check $(BIN)/python manage.py check --deploy --fail-level WARNING
	GRIDPORTAL_HOME=var/check $(BIN)/python manage.py makemigrations --check --dry-run

format: .venv/.dev ## Mend what can be mended by program
	@failed=0; for each in "ruff check --fix ." "ruff format ." "djangofmt templates" "oxfmt static"; do \
		echo "$(BIN)/$$each"; $(BIN)/$$each || failed=1; done; exit $$failed

fuzz-api: .venv/.dev ## Every REST operation with CASES (400) valid requests, each as every role; slow
	FUZZ_API_CASES=$(or $(CASES),400) $(BIN)/pytest -q -n 2 --log-level=CRITICAL tests/fuzz_api

.venv/.bench: .venv/.dev
	@sh scripts/setup.sh bench
	@touch $@

bench: .venv/.bench ## Benchmarks, printed as ratios within one run
	$(BIN)/pytest -q -s -m bench --timeout 600

bench-reports: .venv/.dev ## Every tab of the usage report after a year of JOBS=100000, on PostgreSQL and SQLite: median, worst, first
	@JOBS=$(or $(JOBS),100000) $(BIN)/pytest -q -s -m bench --timeout 3600 tests/bench/test_reports_bench.py

bench-load: .venv/.dev ## Submissions over REST for minutes, on clusters that are quick and full; MINUTES=10, RATE=50
	@$(BIN)/python -m tests.bench.load $(or $(MINUTES),10) $(or $(RATE),50)

chaos: .venv/.dev ## Portals whose parts are killed, stopped and misled while jobs run; MINUTES=, SEED=, KIND=, ONLY=
	@sh scripts/test-deps.sh
	@$(BIN)/python -m tests.chaos $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED)) \
		$(if $(KIND),--kind $(KIND)) $(if $(ONLY),--only "$(ONLY)")

clean: ## Remove the environment and everything the portal kept
	rm -rf .venv var
