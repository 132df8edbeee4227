# The everyday commands; the build itself is CMake's (CMakePresets.json).
#   make           builds build/release/bin/lathe
#   make test      installs what is missing (Debian), builds all, runs all tests
#   make demo      tunes ResNet-18 for four minutes and prints a table; MODEL=path.onnx for one's own,
#                  TIME=seconds, CORES=number, INPUT="NAME=1,3,224,224" for a free input dimension
#   make packages  installs the Debian packages that the three above need
#   make fuzz      every fuzzer for ten minutes, or TIME=seconds (clang 22)
#   make format    formats every source file
#   make check     the checks that need no build: layers, sizes, names, documents, tests, format
JOBS ?= $(shell nproc)
BUILD := build/release
# Ninja where it is present; a build folder keeps the generator it was made with.
GENERATOR = $(if $(wildcard $(BUILD)/CMakeCache.txt),,$(if $(shell command -v ninja),-G Ninja))

.PHONY: all configure test demo packages format check fuzz clean
all: configure
	cmake --build $(BUILD) -j $(JOBS) --target lathe

configure:
	@sh tools/install_packages.sh --check
	@cmake --preset release $(GENERATOR) --log-level=WARNING

test: packages
	@$(MAKE) --no-print-directory configure
	cmake --build $(BUILD) -j $(JOBS)
	ctest --preset release -j $(JOBS) --progress

demo: packages
	MODEL='$(MODEL)' TIME='$(TIME)' CORES='$(CORES)' INPUT='$(INPUT)' JOBS='$(JOBS)' bash tools/demo.sh

packages:
	@sh tools/install_packages.sh

format:
	tools/check_format.sh --fix

check:
	python3 tools/check_layers.py
	python3 tools/check_sizes.py
	python3 tools/check_names.py
	python3 tools/check_docs.py
	python3 tools/check_tests.py
	tools/check_format.sh

fuzz:
	@sh tools/install_packages.sh --fuzz
	tools/fuzz.sh $(TIME)

clean:
	rm -rf build
