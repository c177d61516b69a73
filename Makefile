# Two commands to begin with: `make demo` and `make test`. Both set up what they need.
JOBS ?= $(shell nproc)
CMAKE_ARGS ?=
# Idle worker threads must not spin while tests run side by side.
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: help setup configure build test demo python bench asan tsan shared check format formatted lint clean
.DEFAULT_GOAL := help

help: ## this list
	@echo 'Tessera: boundary-conditional diffusion of discrete data'
	@echo
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 18
	@echo
	@echo 'JOBS=N sets the number of parallel jobs, CMAKE_ARGS=... is passed to CMake,'
	@echo 'TORCH_PIP_ARGS=... to pip where LibTorch has to be installed.'

setup: ## install missing packages and LibTorch
	@scripts/setup

configure: setup
	@mkdir -p build
	@cmake --preset release $(CMAKE_ARGS) > build/configure.log 2>&1 || { cat build/configure.log; exit 1; }

build: configure ## the program, as build/bin/tessera
	cmake --build --preset release --parallel $(JOBS) --target tessera_program

test: configure ## build and run all tests
	cmake --build --preset release --parallel $(JOBS)
	ctest --preset release --parallel $(JOBS)

demo: build ## pictures of the method, and r = 0 against r = 1: writes demo/index.html
	@scripts/demo

python: configure ## install the Python package into an environment of its own, run all of its tests
	cmake --build --preset release --parallel $(JOBS) --target tessera_program tessera_python make_tiny_model
	@scripts/check-python

bench: configure ## compare our kernels with plain LibTorch, then micro-benchmarks
	cmake --build --preset release --parallel $(JOBS) --target tessera_program tessera_bench
	build/bin/tessera bench boundary
	build/bin/tessera_bench

asan: setup ## unit tests under the address and undefined-behaviour sanitizers
	cmake --preset asan $(CMAKE_ARGS)
	cmake --build --preset asan --parallel $(JOBS)
	ctest --preset asan --parallel $(JOBS)

tsan: setup ## readers, generation and training under the thread sanitizer
	cmake --preset tsan $(CMAKE_ARGS)
	cmake --build --preset tsan --parallel $(JOBS)
	setarch -R ctest --preset tsan --parallel $(JOBS)

shared: setup ## shared libraries, and the library as a part of another project
	cmake --preset shared $(CMAKE_ARGS)
	cmake --build --preset shared --parallel $(JOBS)
	ctest --preset shared

check: formatted test python asan tsan shared lint ## all checks there are; takes long

format: ## rewrite the sources as .clang-format says
	@scripts/setup --format
	@git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format-14 -i

formatted: ## fails where the sources are not as .clang-format says
	@scripts/setup --format
	@git ls-files -z '*.h' '*.cpp' '*.cu' '*.cuh' | xargs -0 clang-format-14 --dry-run --Werror

lint: formatted ## formatting and clang-tidy, without changing anything
	@scripts/setup --lint
	@cmake --preset lint $(CMAKE_ARGS) > /dev/null
	@git ls-files -z 'src/*.cpp' 'apps/*.cpp' | xargs -0 -P $(JOBS) -n 4 clang-tidy-14 -p build-lint --quiet

clean: ## remove everything that was built
	rm -rf build build-debug build-asan build-tsan build-shared build-cuda build-lint demo
