#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scripts/setup on machines that are not this one: every tool that it asks is a fake in a folder
# that is the whole PATH.
set -uo pipefail

setup=$BARSCOPE_SOURCE/scripts/setup
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0

fresh() { # an empty PATH but for what the script itself is written with
    rm -rf "$dir/bin" "$dir/log"
    mkdir "$dir/bin"
    for tool in bash awk grep sed paste mktemp tail rm env cat; do
        ln -s "$(command -v "$tool")" "$dir/bin/$tool"
    done
}

fake() { # NAME BODY
    printf '#!%s\n%s\n' "$(command -v bash)" "$2" >"$dir/bin/$1"
    chmod +x "$dir/bin/$1"
}

run() { # LEVEL: sets rc and out
    out=$(PATH=$dir/bin "$dir/bin/bash" "$setup" "$1" 2>&1)
    rc=$?
}

expect() { # WHAT RC PATTERN...
    local what=$1 want=$2 p
    shift 2
    if [ "$rc" -ne "$want" ]; then
        echo "FAIL: $what: exit status $rc, not $want: $out"
        failed=1
    fi
    for p in "$@"; do
        if ! grep -qE -- "$p" <<<"$out"; then
            echo "FAIL: $what: no line matches '$p' in: $out"
            failed=1
        fi
    done
}

installed='printf "install ok installed\n"'
all_but_jansson='case $* in *libjansson-dev*) exit 1 ;; *clang) echo "clang-14 (>= 14)" ;; *) '$installed' ;; esac'

fresh # nothing of Debian, nothing to build with
run run
expect 'another distribution' 3 'not Debian' 'Debian, Ubuntu: +apt install gcc .*libjansson-dev' \
    'Fedora: +dnf install .*jansson-devel' 'Arch: +pacman -S .*jansson'

for tool in cc meson ninja pkg-config; do fake "$tool" 'exit 0'; done
run run
expect 'another distribution that has all' 0
[ -z "$out" ] || { echo "FAIL: not quiet: $out"; failed=1; }

fresh # Debian, something missing, an ordinary user without sudo
fake apt-get 'echo "$@" >>"'"$dir"'/log"'
fake dpkg-query "$all_but_jansson"
fake id 'echo 1000'
run run
expect 'no root' 3 'missing: libjansson-dev; installing needs root' 'dnf install'
[ ! -e "$dir/log" ] || { echo "FAIL: apt-get was called without root"; failed=1; }

fake id 'echo 0' # root
run run
expect 'root' 0 'installing libjansson-dev'
grep -q '^update$' "$dir/log" && grep -q 'install -y .* libjansson-dev$' "$dir/log" ||
    { echo "FAIL: apt-get got: $(cat "$dir/log")"; failed=1; }

fake apt-get 'echo "E: no such package" >&2; exit 100'
run run
expect 'apt fails' 3 'E: no such package' 'apt-get could not install libjansson-dev'

fresh # Debian, nothing missing: no call of apt, no output
fake apt-get 'echo "$@" >>"'"$dir"'/log"'
fake dpkg-query 'case $* in *Depends*) echo "clang-14 (>= 14)" ;; *) '"$installed"' ;; esac'
run long
expect 'nothing missing' 0
[ -z "$out" ] && [ ! -e "$dir/log" ] || { echo "FAIL: not quiet: $out $(cat "$dir/log")"; failed=1; }

run everything
expect 'a wrong level' 3 "not 'everything'"
exit $failed
