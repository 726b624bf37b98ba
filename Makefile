.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# npm scripts use the Node version of the dev dependencies, even if the machine has another one.
STAMP := node_modules/.installed

# Words after `soak` or `bench` are arguments: `make bench -- pings --quick`. They are goals for make, so they must
# do nothing, even if a target has the same name, for example `memory`.
ifneq ($(filter soak bench,$(firstword $(MAKECMDGOALS))),)
ARGUMENTS := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.DEFAULT: ; @:
else
.PHONY: help up demo try down status migrate lint format typecheck unused test test-unit test-system test-all fuzz fuzz-presentations memory monitoring pooler cluster-faults backlog backup-drill e2e openapi secrets release-files check

##@ Help

help: ## list the targets
	@awk -F ':.*## ' '/^##@ / {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

##@ Run on this machine

up: $(STAMP) ## start everything in the background; print what to open, what to ping and where mail arrives
	@npm run -s stack -- up

demo: $(STAMP) ## start everything, add a project with 60 checks and 90 days of history, and keep pinging it
	@npm run -s stack -- demo

try: $(STAMP) ## request a risk signals pack and verify it offline, command by command
	@npm run -s stack -- try

down: $(STAMP) ## stop the processes that `make up` started (data stays)
	@npm run -s stack -- down

status: $(STAMP) ## show running processes and problems: refused pings, broker, mail
	@npm run -s stack -- status

migrate: $(STAMP) ## apply database migrations
	@npm run -s migrate

secrets: ## create the secret files that compose.yaml mounts, if missing
	@sh stack/secrets.sh

backup-drill: $(STAMP) ## write a backup (BACKUP_FOLDER), restore it into a separate database, compare, and drop that database
	@folder=$${BACKUP_FOLDER:-.local/backup}; npm run -s admin -- backup write --to $$folder && npm run -s admin -- backup verify --from $$folder

##@ Check and test

format: $(STAMP) ## format all files
	@npm run -s format

lint: $(STAMP) ## check formatting, imports and lint rules
	@npm run -s lint

typecheck: $(STAMP) ## check types
	@npm run -s typecheck

unused: $(STAMP) ## find unused files, exports and dependencies
	@npm run -s unused

test: $(STAMP) ## run format, lint, type and unused-code checks, and unit, API and worker tests (`make test FILE=test/ingress/web`)
ifdef FILE
	@npm run -s test -- $(FILE)
else
	@$(MAKE) -j3 lint typecheck unused
	@npm run -s test
endif

test-unit: $(STAMP) ## run the tests that need no server
	@npm run -s test -- --layer=unit

test-system: $(STAMP) ## run browser, documentation, fault and fuzz tests
	@npm run -s test -- --layer=system

test-all: export TEST_FULL = 1
test-all: test test-system ## run `test` and `test-system`, and property tests with all cases

check: test test-system ## run `test` and `test-system`, as continuous integration does

##@ Longer tests

fuzz: $(STAMP) ## send 10,000 mutated requests to every listener (at most five minutes; FUZZ_SEED repeats a run)
	@FUZZ_REQUESTS=$${FUZZ_REQUESTS:-10000} npm run -s test -- test/fuzz/fuzz.test.ts

fuzz-presentations: $(STAMP) ## verify that 10,000 mutated presentations are refused (FUZZ_SEED repeats a run)
	@FUZZ_REQUESTS=$${FUZZ_REQUESTS:-10000} npm run -s test -- test/fuzz/presentations.test.ts

memory: $(STAMP) ## measure memory with 10,000 idle connections (10,500 open files), slow readers, watchers and large mails
	@npm run -s test -- test/faults/memory.test.ts

monitoring: $(STAMP) ## test alert rules and dashboard with promtool (PROMTOOL; default: from PATH)
	@PROMTOOL=$${PROMTOOL:-promtool} npm run -s test -- test/examples/monitoring.test.ts

pooler: $(STAMP) ## test the product behind pgbouncer (PGBOUNCER; default: from PATH)
	@PGBOUNCER=$${PGBOUNCER:-pgbouncer} npm run -s test -- test/faults/pooler.test.ts

cluster-faults: $(STAMP) ## run each fault of three brokers and two database servers once; count gaps, refused, lost and duplicate pings and false alerts
	@npm run -s soak -- --once --only broker:,database:

backlog: $(STAMP) ## test that 200,000 waiting pings drain while other checks are alerted
	@BACKLOG_MESSAGES=200000 npm run -s test -- test/faults/backlog.test.ts

e2e: $(STAMP) ## run the end-to-end scenarios
	@npm run -s test -- 'test/e2e/**/*.test.ts'

##@ Write files

openapi: $(STAMP) ## write docs/openapi.json
	@npm run -s admin -- openapi --write

release-files: $(STAMP) ## write a bill of materials (CycloneDX) and the list of licences to release/
	@npm run -s release-files

endif

.PHONY: soak bench

##@ Load and benchmarks

soak: $(STAMP) ## run two hours of load with a fault every five minutes on separate servers, and reconcile the results (`make soak -- --minutes 10`)
	@npm run -s soak -- $(ARGUMENTS)

bench: $(STAMP) ## run benchmarks, as ratios against a limit or baseline of the same run (`make bench -- pings --quick`)
	@npm run -s bench -- $(ARGUMENTS)

# This stamp exists only after a complete installation; npm has no file that shows this.
$(STAMP): package.json package-lock.json
	@if [ node_modules/.package-lock.json -nt package-lock.json ] && [ -x node_modules/.bin/tsx ]; then :; else \
	  echo 'installing dependencies (once; a minute or two)'; \
	  npm ci --loglevel=error >/dev/null; fi
	@touch $(STAMP)
