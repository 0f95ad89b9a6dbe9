#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# check, plan and diff as scripts see them: exit statuses, --require, --gpu, --explain, bad usage.
set -uo pipefail

barscope=$(realpath "${BARSCOPE:?the program to test}") || exit 3
corpus=${BARSCOPE_SOURCE:?the source tree}/tests/corpus
export BARSCOPE_PCI_IDS=$corpus/pci.ids LC_ALL=C.UTF-8 NO_COLOR=1
full=$corpus/090-rebar-full/machine.rec
off=$corpus/091-rebar-off/machine.rec
igpu=$corpus/119-igpu-and-bmc/machine.rec
arm=$corpus/104-arm-server/machine.rec
six=$corpus/099-six-gpus/machine.rec
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# ends STATUS ARGUMENTS...: one run, its status and what it says are kept.
ends() {
    local want=$1
    shift
    "$barscope" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    local rc=$?
    if [ $rc -ne "$want" ]; then
        failed=1
        echo "FAIL barscope $*: ends with $rc, expected $want"
        head -n 5 "$tmp/err"
    fi
}
says() { # FILE PATTERN
    if ! grep -q -- "$2" "$tmp/$1"; then
        failed=1
        echo "FAIL standard $1 does not say '$2':"
        head -n 5 "$tmp/$1"
    fi
}
one_sentence() {
    if [ "$(grep -c . "$tmp/err")" -gt 2 ] || [ -s "$tmp/out" ]; then
        failed=1
        echo 'FAIL more than a sentence:'
        cat "$tmp/err"
    fi
}

# Statuses without requirements.
ends 0 check "$full"
ends 1 check "$off"
ends 2 check "$corpus/100-guest-hidden/machine.rec"      # without nvidia-smi the VRAM is not known
ends 0 check "$corpus/100-guest-hidden/machine.rec" --with "$corpus/100-guest-hidden/nvidia-smi.log"
ends 1 check "$corpus/115-link-narrow/machine.rec"
ends 0 check "$igpu"

# Requirements: met, failed, not known; several answers; each GPU that is discrete is asked.
ends 0 check "$full" --require rebar=full,link=ok,above4g.used=yes,assignment=ok
ends 0 check "$full" '--require=rebar=full|card-limit'
ends 0 check "$full" --require ' rebar = full , link = ok '
ends 1 check "$full" --require rebar=off
says err '0000:01:00.0: rebar is full, required is off'
ends 2 check "$full" --require above4g.setup=yes
ends 1 check "$full" --require above4g.setup=yes,rebar=off
ends 2 check "$arm" --require above4g.aperture=yes
ends 1 check "$off" --require above4g.used=yes           # a bad verdict stays one
ends 0 check "$corpus/100-guest-hidden/machine.rec" --require above4g.used=yes
ends 1 check "$six" --require rebar=full
[ "$(grep -c 'rebar is off' "$tmp/err")" = 6 ] || { failed=1; echo 'FAIL not all six GPUs were asked'; }

# Bad requirements are usage errors, each with a sentence that helps.
for bad in '' rebar rebar= =full nothing=yes rebar=large 'rebar=full,' 'rebar=full|' ',' 'rebar==full'; do
    ends 3 check "$full" --require "$bad"
    one_sentence
done
ends 3 check "$full" --require nothing=yes
says err 'above4g.used'
ends 3 check "$full" --require rebar=large
says err 'card-limit'

# --gpu.
ends 0 check "$full" --gpu 0000:01:00.0
ends 0 check "$full" --gpu 01:00.0
ends 3 check "$full" --gpu 0000:09:00.0
ends 3 check "$full" --gpu 0000:00:01.0
says err 'is not a GPU'
for bad in '' 01:00 x 0000:01:00.8 01:00.0x; do
    ends 3 check "$full" --gpu "$bad"
done

# --explain has the evidence, for and against, and each question.
ends 1 check "$off" --explain --ascii
says out 'for     R1'
says out 'does the BAR show all of the VRAM'
says out '(proven)'
ends 1 check "$corpus/107-csm/machine.rec" --explain --ascii
says out 'against F2'

# No GPU, no such file, not a machine.
printf '00:00.0 Host bridge: Intel Corporation Device 4650 (rev 05)\n' >"$tmp/bridge.txt"
ends 4 check "$tmp/bridge.txt"
ends 4 plan "$tmp/bridge.txt"
ends 4 plan "$igpu"
ends 3 check "$tmp/missing/file"
one_sentence
printf 'nothing of a machine\n' >"$tmp/text"
ends 3 check "$tmp/text"
ends 3 plan "$tmp/text"
ends 3 diff "$tmp/text" "$full"
ends 3 --machine "$tmp/missing" --picture 1
one_sentence
ends 3 --machine "$tmp/text" --picture 1
one_sentence
ends 3 check --nothing
ends 3 check "$full" "$off"
ends 3 diff

# plan.
ends 0 plan "$full"
ends 0 plan "$off"
ends 1 plan "$off" --size 32G                            # the card has no such size
says out 'offers no size of 32 GiB'
ends 1 plan "$six" --size 32G
ends 0 plan "$six" --size 32G --gpu 01:00.0
ends 0 plan "$six" --size 16G
ends 1 plan "$corpus/097-arc-switch-pins-window/machine.rec"
says out '0000:01:00.0 BAR 0'
ends 0 plan "$corpus/097-arc-switch-pins-window/machine.rec" --size 256M
for bad in 0 3G 512K x 32 -1G 1e3 99999999999G; do
    ends 3 plan "$off" --size "$bad"
done
ends 3 plan "$off" --without 0000:77:00.0
ends 0 plan "$off" --size 256M
ends 4 plan "$off" --without 00:01.0 --size 256M # its only GPU is behind that bridge

# diff: nothing, better, worse.
ends 0 diff "$full" "$full"
says out 'Nothing differs'
ends 0 diff "$off" "$full"
ends 1 diff "$full" "$off"

# An excerpt is no loss; a BAR without a number that shrank is one.
card='07:00.0 VGA compatible controller: NVIDIA Corporation Device 2482 (rev a1)'
printf '%s\n' '00:03.1 PCI bridge: Advanced Micro Devices, Inc. [AMD] Device 1453' "$card" \
    $'\tMemory at 7c00000000 (64-bit, prefetchable) [size=8G]' >"$tmp/before.txt"
printf '%s\n' "$card" $'\tMemory at 7c00000000 (64-bit, prefetchable) [size=8G]' >"$tmp/same.txt"
printf '%s\n' "$card" $'\tRegion 1: Memory at d0000000 (64-bit, prefetchable) [size=256M]' \
    >"$tmp/small.txt"
ends 0 diff "$tmp/before.txt" "$tmp/same.txt"
says out "not in B's text  0000:00:03.1"
ends 1 diff "$tmp/before.txt" "$tmp/small.txt"
says out '- BAR 1  *8 GiB at 0x7c00000000 → 256 MiB at 0xd0000000'

# Nothing is cut off without a word when the disk is full.
if [ -c /dev/full ]; then
    "$barscope" check "$full" >/dev/full 2>"$tmp/err"
    [ $? -eq 3 ] || { failed=1; echo 'FAIL a full disk goes unnoticed'; }
fi
[ $failed -eq 0 ] && echo 'all as expected'
exit $failed
