# The verbs of the day. `make` alone lists them; what a verb does at length stands in .ci/.

# Build artefacts and tools live outside of the checkout, so that a fresh clone starts warm and a clean one stays clean.
export CARGO_TARGET_DIR ?= $(HOME)/.cache/campanile/target
export CAMPANILE_TOOLS ?= $(HOME)/.cache/campanile/tools

# Everything is built with this one set of packages and features: with another one cargo unifies the features of the
# dependencies differently and compiles them a second time.
export WORKSPACE := --workspace --features campanile-desktop/custom-protocol

ui_sources := $(shell find ui -type d \( -name node_modules -o -name dist \) -prune -o -type f -print)

.DEFAULT_GOAL := help
.PHONY: help run test test-mysql soak verify fix gen bench screenshots ui icons package deny ui-packages e2e-packages

help: ## list these verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

run: ## install what is missing, build, and open the desktop app
	@.ci/setup build
	@$(MAKE) --no-print-directory ui
	cargo build --locked $(WORKSPACE) --bins
	@.ci/desktop

test: ## everything that must pass before a change goes in, with the time of each step
	@.ci/test

test-mysql: ## the suites of the store on a server of yours: make test-mysql URL=mysql://user:password@host:port/
	@.ci/test-mysql "$(URL)"

soak: ## the long forms of the tests on a release build, and the start-up figures
	@.ci/soak

verify: deny ui-packages ## the lints alone; writes nothing into the checkout
	cargo fmt --all --check
	npm --prefix ui run verify
	@$(MAKE) --no-print-directory ui
	cargo clippy --locked $(WORKSPACE) --all-targets -- --deny warnings

fix: ui-packages ui ## what can be mended by machine: format, clippy's and Biome's own fixes
	npm --prefix ui run fix
	cargo clippy --fix --allow-dirty --allow-staged $(WORKSPACE) --all-targets
	cargo fmt --all

gen: ui ## write the files that are made from the code: TypeScript types, docs/task-states.md, the SDKs' protocol
	.ci/sdks generate
	CAMPANILE_GEN=1 cargo test --locked $(WORKSPACE) generated

bench: ui ## the benches at full size
	cargo build --release --locked $(WORKSPACE) --bins
	SCALE=1 cargo bench --locked $(WORKSPACE)

screenshots: ui e2e-packages ## every view in both themes and both languages, into tests/e2e/screenshots
	cargo build --locked $(WORKSPACE) --bins
	.ci/e2e screenshots

ui: ui/dist/index.html ## build the console's pages

icons: ## draw every icon file from the SVGs in icons/
	.ci/icons

package: ui ## the .deb and .rpm of this machine's architecture
	.ci/package

deny:
	@.ci/tool cargo-deny
	$(CAMPANILE_TOOLS)/bin/cargo-deny --locked check bans licenses sources

ui-packages: ui/node_modules/.installed
e2e-packages: tests/e2e/node_modules/.installed

# npm ci deletes and installs everything; the mark keeps it from doing so when nothing changed.
%/node_modules/.installed: %/package.json %/package-lock.json
	npm --prefix $* ci --no-audit --no-fund
	@touch $@

ui/dist/index.html: ui/node_modules/.installed $(ui_sources)
	npm --prefix ui run build
