#!/bin/sh
# Compiles every C source of the project without leaving anything; a warning is an error.
set -eu
cd "$(dirname "$0")/.."
if ! command -v gcc >/dev/null 2>&1; then
    echo "C sources are not checked: gcc is missing (apt-get install gcc libc6-dev)." >&2
    exit 0
fi
find gridportal tests -name '*.c' -print0 | xargs -0 -n 1 -P 2 \
    gcc -std=gnu99 -Wall -Wextra -Werror -fsyntax-only -I.venv/include -Igridportal/runtime/srs/library
