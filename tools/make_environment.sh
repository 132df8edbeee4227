#!/bin/sh
# Puts the packages of tools/requirements.txt into .venv; nothing to do if they are there.
set -eu
cd "$(dirname "$0")/.."
[ -x .venv/bin/python ] || python3 -m venv .venv
.venv/bin/pip install --quiet --disable-pip-version-check -r tools/requirements.txt
