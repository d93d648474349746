#!/bin/sh
# Prepare a machine: system libraries where they are missing, uv, and the project's environment.
# Usage: tools/prepare.sh run|test|docs|tools; for tools there is uv alone.
set -eu
cd "$(dirname "$0")/.."
purpose=${1:-run}

libraries="libegl1 libgl1 libxkbcommon0 libfontconfig1 libdbus-1-3 libglib2.0-0 fonts-dejavu-core
           libxkbcommon-x11-0 libxcb-cursor0 libxcb-icccm4 libxcb-keysyms1 libxcb-shape0"
[ "$purpose" = test ] && libraries="$libraries libgomp1 xvfb xdotool"
[ "$purpose" = tools ] && libraries=

if ! command -v uv >/dev/null 2>&1 && [ ! -x .tools/bin/uv ] && ! python3 -c 'import ensurepip, venv' 2>/dev/null; then
    libraries="$libraries python3-venv"
fi

if command -v dpkg-query >/dev/null 2>&1; then
    missing=
    for package in $libraries; do
        # libglib2.0-0 is called libglib2.0-0t64 on newer Debian releases
        dpkg-query -W -f '${Status}\n' "$package" "${package}t64" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    if [ -n "$missing" ] && [ "$(id -u)" = 0 ]; then
        echo "Installing system packages:$missing" >&2
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
    elif [ -n "$missing" ]; then
        echo "System packages are missing. Ask an administrator to run, or run yourself:" >&2
        echo "    sudo apt-get install$missing" >&2
    fi
fi

if command -v uv >/dev/null 2>&1; then
    uv=uv
else
    if [ ! -x .tools/bin/uv ]; then
        python3 -m venv .tools || { echo "Python cannot make a virtual environment: install python3-venv, then try again." >&2; exit 1; }
        .tools/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools/uv.txt
    fi
    uv=.tools/bin/uv
fi

export UV_PYTHON_DOWNLOADS=never
case "$purpose" in
test) "$uv" sync --locked --quiet --compile-bytecode --extra app ;;
tools) ;;
docs) "$uv" sync --locked --quiet --inexact --extra docs ;;
*) "$uv" sync --locked --quiet --no-dev --inexact --extra app ;;
esac
# Compiled once here, so that commands start quickly also where Python was told to keep no bytecode.
[ "$purpose" = tools ] || .venv/bin/python -m compileall -q -j 2 elicit_app metrics
