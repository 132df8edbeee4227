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
# A build folder keeps what it was made with; a new one has Ninja where it is present, and compiles the library's
# files a folder at a time, which takes half as long (-DLATHE_JOIN=OFF: one by one, to work on them).
NEW = $(if $(wildcard $(BUILD)/CMakeCache.txt),,-DLATHE_JOIN=ON $(if $(shell command -v ninja),-G Ninja))

.PHONY: all configure test demo packages format check fuzz clean
all: configure
	cmake --build $(BUILD) -j $(JOBS) --target lathe

configure:
	@sh tools/install_packages.sh --check
	@cmake --preset release $(NEW) --log-level=WARNING

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
