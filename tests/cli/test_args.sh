#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Bad arguments of every reading command: status 3, one sentence with a pointer to --help, and nothing
# on standard output. Nothing is accepted and then ignored.
set -uo pipefail

barscope=$(realpath "${BARSCOPE:?the program to test}") || exit 3
cd "${BARSCOPE_SOURCE:?the source tree}/tests/corpus" || exit 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
export HOME=$tmp XDG_DATA_HOME=$tmp LC_ALL=C.UTF-8
a=090-rebar-full/machine.rec
b=091-rebar-off/machine.rec
failed=0

refuse() { # PATTERN ARGUMENTS...
    local pattern=$1
    shift
    "$barscope" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    local rc=$?
    if [ $rc -ne 3 ] || [ -s "$tmp/out" ] || [ "$(grep -c . "$tmp/err")" -gt 2 ] ||
        ! grep -q -e "$pattern" "$tmp/err"; then
        echo "FAIL barscope $*: status $rc; expected '$pattern' in: $(head -n 3 "$tmp/err")"
        failed=1
    fi
}

for c in show check plan diff capture doctor verify tune; do
    refuse "'--nosuch' is no option of it" $c --nosuch
    refuse "'-Z' is no option of it" $c -Z
    refuse "'-Zj' is no option of it" $c -Zj
    "$barscope" $c --help >"$tmp/out" 2>"$tmp/err" </dev/null && grep -q '^usage: barscope' "$tmp/out" &&
        [ ! -s "$tmp/err" ] || { echo "FAIL $c --help"; failed=1; }
done
for c in show check plan diff; do
    refuse '--json takes no value' $c --json=1 $a
    refuse '--wake takes no value' $c --wake=1 $a
    refuse "'--js' is no option of it" $c --js $a
    refuse 'an empty argument is no SOURCE' $c ''
    refuse '--store is given twice' $c --store x --store y $a
    refuse '--store needs a value' $c $a --store
    refuse 'one argument too many' $c $a $b $a
done
for c in show check plan; do
    refuse 'can be read only once' $c - --with -
    refuse '--with needs a value' $c --with
done
for c in verify tune doctor; do
    refuse '--json takes no value' $c --json=1
    refuse "'--js' is no option of it" $c --js
    refuse '--shape is given twice' $c --shape 1x8x8 --shape 1x8x8
    refuse '--shape needs a value' $c --shape=
    refuse "'x' is one argument too many" $c x
    refuse 'shape' $c --shape 1x8
done
for c in verify tune; do
    refuse "no PCI address" $c --device first
    refuse '--dtype takes f16 or f32' $c --dtype f64
done
for c in check plan; do
    refuse '--gpu is given twice' $c --gpu 1:0.0 --gpu 2:0.0 $a
    refuse "'x' is no PCI address" $c --gpu x $a
    refuse 'there is no device' $c --gpu ff:00.0 $a
done
refuse 'no option of it: it would be a witness of both' diff --with $a $a $b
refuse 'can be read only once' diff - -
refuse 'name the machine' diff
refuse '--with is no option of it' capture --with $a
refuse '--store is no option of it' capture --store x
refuse '--output is given twice' capture -o a -o b
refuse '--map is for people' plan --map --json $a
refuse 'name the same device' plan --gpu 01:00.0 --without 01:00.0 $a
refuse 'not ID=ANSWER' check --require rebar $a
refuse '--help takes no value' verify --help=1
refuse "'-js' is no option of it" study run -js
refuse "'-js' is no option of it" study run name -js
exit $failed
