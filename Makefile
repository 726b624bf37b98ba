.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
.PHONY: help up down status migrate lint format typecheck test test-unit e2e bench openapi secrets check

# npm scripts run on the Node of the dev dependencies, whatever Node the machine has.
STAMP := node_modules/.installed

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

up: $(STAMP) ## bring everything up in the background and print address, credentials and lines to try
	@npm run -s stack -- up

down: $(STAMP) ## stop what `make up` started, and nothing else (data stays)
	@npm run -s stack -- down

status: $(STAMP) ## what of it runs
	@npm run -s stack -- status

migrate: $(STAMP) ## apply database migrations
	@npm run -s migrate

format: $(STAMP) ## format all files
	@npm run -s format

lint: $(STAMP) ## check formatting, imports and lint rules
	@npm run -s lint

typecheck: $(STAMP) ## check types
	@npm run -s typecheck

test: lint typecheck ## formatting, lint, types and all tests (with Docker: in containers)
	@npm run -s test

test-unit: $(STAMP) ## the tests of pure rules: no PostgreSQL, no RabbitMQ
	@npm run -s test -- --unit

e2e: $(STAMP) ## the stories through the whole product
	@npm run -s test -- 'test/e2e/**/*.test.ts'

bench: $(STAMP) ## benchmarks, each as a ratio against its limit or rival in the same run
	@npm run -s bench

openapi: $(STAMP) ## write docs/openapi.json anew
	@npm run -s admin -- openapi >docs/openapi.json.new && mv docs/openapi.json.new docs/openapi.json

secrets: ## the secret files that compose.yaml mounts, made once
	@sh shared/stack/secrets.sh

check: test ## what continuous integration runs

# A stamp of our own: npm leaves none that tells an interrupted installation from a finished one.
$(STAMP): package.json package-lock.json
	@if [ node_modules/.package-lock.json -nt package-lock.json ] && [ -x node_modules/.bin/tsx ]; then :; else \
	  echo 'installing dependencies (once; a minute or two)'; \
	  npm ci --loglevel=error >/dev/null; fi
	@touch $(STAMP)
