.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

# npm scripts run on the Node of the dev dependencies, also on a machine with another version.
STAMP := node_modules/.installed

# Words after `soak` or `bench` are its arguments: `make bench -- pings --quick`. To make they are goals,
# which then do nothing, whatever else has their name: `memory` is a suite of the benchmark too.
ifneq ($(filter soak bench,$(firstword $(MAKECMDGOALS))),)
ARGUMENTS := $(wordlist 2,$(words $(MAKECMDGOALS)),$(MAKECMDGOALS))
.DEFAULT: ; @:
else
.PHONY: help up down status migrate lint format typecheck unused test test-unit test-system test-all fuzz fuzz-presentations memory monitoring pooler cluster-faults backlog backup-drill e2e openapi secrets release-files check

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

up: $(STAMP) ## bring everything up in the background and print address, credentials and lines to try
	@npm run -s stack -- up

down: $(STAMP) ## stop what `make up` started, and nothing else (data stays)
	@npm run -s stack -- down

status: $(STAMP) ## what of it runs, and whether it works: refused pings, broker, mail
	@npm run -s stack -- status

migrate: $(STAMP) ## apply database migrations
	@npm run -s migrate

format: $(STAMP) ## format all files
	@npm run -s format

lint: $(STAMP) ## check formatting, imports and lint rules
	@npm run -s lint

typecheck: $(STAMP) ## check types
	@npm run -s typecheck

test: $(STAMP) ## format, lint, types, unused code, unit, API and worker tests (`make test FILE=test/ingress/web`)
ifdef FILE
	@npm run -s test -- $(FILE)
else
	@$(MAKE) -j3 lint typecheck unused
	@npm run -s test
endif

test-unit: $(STAMP) ## tests that need no server
	@npm run -s test -- --layer=unit

test-system: $(STAMP) ## browser tests, documentation, faults on their own servers, fuzz
	@npm run -s test -- --layer=system

test-all: export TEST_FULL = 1
test-all: test test-system ## both, and property tests with all their cases

fuzz: $(STAMP) ## 10,000 mutated requests to every listener, five minutes at most; FUZZ_SEED repeats a run
	@FUZZ_REQUESTS=$${FUZZ_REQUESTS:-10000} npm run -s test -- test/fuzz/fuzz.test.ts

fuzz-presentations: $(STAMP) ## 10,000 mutated presentations, none of which may verify; FUZZ_SEED repeats a run
	@FUZZ_REQUESTS=$${FUZZ_REQUESTS:-10000} npm run -s test -- test/fuzz/presentations.test.ts

memory: $(STAMP) ## what 10,000 idle connections hold (10,500 open files), slow readers, watchers and large mails
	@npm run -s test -- test/faults/memory.test.ts

monitoring: $(STAMP) ## alert rules and dashboard, with promtool (PROMTOOL, or that of the path)
	@PROMTOOL=$${PROMTOOL:-promtool} npm run -s test -- test/examples/monitoring.test.ts

pooler: $(STAMP) ## the product behind pgbouncer (PGBOUNCER, or that of the path)
	@PGBOUNCER=$${PGBOUNCER:-pgbouncer} npm run -s test -- test/faults/pooler.test.ts

cluster-faults: $(STAMP) ## each fault of three brokers and of two database servers once: gap, refused, lost, doubled, false downs
	@npm run -s soak -- --once --only broker:,database:

backlog: $(STAMP) ## 200,000 messages wait in the ping queues: they drain, and other checks are alerted meanwhile
	@BACKLOG_MESSAGES=200000 npm run -s test -- test/faults/backlog.test.ts

backup-drill: $(STAMP) ## write a backup (BACKUP_FOLDER), restore it into a database of its own, compare, drop that
	@folder=$${BACKUP_FOLDER:-.local/backup}; npm run -s admin -- backup write --to $$folder && npm run -s admin -- backup verify --from $$folder

e2e: $(STAMP) ## the stories through the whole product
	@npm run -s test -- 'test/e2e/**/*.test.ts'

openapi: $(STAMP) ## write docs/openapi.json anew
	@npm run -s admin -- openapi --write

secrets: ## the secret files that compose.yaml mounts, made once
	@sh stack/secrets.sh

release-files: $(STAMP) ## bill of materials (CycloneDX) and list of licences of what is shipped, in release/
	@npm run -s release-files

unused: $(STAMP) ## files, exports and dependencies that nobody uses
	@npm run -s unused

check: test test-system ## what continuous integration runs

endif

.PHONY: soak bench

soak: $(STAMP) ## two hours of load with a fault every five minutes, on servers of its own, and the books (`make soak -- --minutes 10`)
	@npm run -s soak -- $(ARGUMENTS)

bench: $(STAMP) ## benchmarks, each as a ratio against its limit or rival in the same run (`make bench -- pings --quick`)
	@npm run -s bench -- $(ARGUMENTS)

# A stamp of our own: npm leaves none that tells an interrupted installation from a finished one.
$(STAMP): package.json package-lock.json
	@if [ node_modules/.package-lock.json -nt package-lock.json ] && [ -x node_modules/.bin/tsx ]; then :; else \
	  echo 'installing dependencies (once; a minute or two)'; \
	  npm ci --loglevel=error >/dev/null; fi
	@touch $(STAMP)
