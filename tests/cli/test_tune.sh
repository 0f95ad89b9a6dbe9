#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `tune` and `verify` as a user meets them, on libraries that compute on the CPU (tests/fakes,
# which LD_LIBRARY_PATH names): output, exit statuses, and one sentence for each trouble.
set -uo pipefail

bad=0
out=$(mktemp)
trap 'rm -f "$out"' EXIT
expect() { # STATUS PATTERN ARGUMENTS...
    local want=$1 pattern=$2
    shift 2
    "$BARSCOPE" "$@" >"$out" 2>&1
    local got=$?
    if [ $got -ne "$want" ] || ! grep -qE -- "$pattern" "$out"; then
        echo "barscope $*: status $got instead of $want, or no '$pattern' in:"
        cat "$out"
        bad=1
    fi
}

expect 0 '^tiled_8x128x16 .* ok$' verify --shape 2x64x24
expect 0 '"schema": "barscope.verify/1"' verify --shape 2x64x24 --json
expect 0 '^naive_acc16 .* fails, as it should: ' verify --shape 16x264x512 --kernel naive_acc16
expect 0 '^  no signs .* no   fails, as it should: ' verify --shape 1x8192x24 --kernel naive_acc16
expect 0 '^  bias, GELU .* ok   ok$' verify --shape 2x64x24 --kernel naive
FAKE_CUDA=noact expect 1 '^  bias, ReLU .* WRONG: ' verify --shape 2x64x24 --kernel naive
expect 0 '^f32_m2 .* ok$' verify --shape 2x65x24 --dtype f32
expect 0 '^floor .* reading the weights alone' tune --shape 2x64x24 --copies 3 --rounds 3
expect 0 '^a thread an output .*naive$' tune --shape 2x64x24 --copies 3 --rounds 3 --ladder
expect 0 '"kind": "cublaslt"' tune --shape 2x64x24 --copies 3 --rounds 3 --json
expect 3 'product|shape' tune --shape 2x64
expect 3 "no GPU kernel nosuch suits" verify --kernel nosuch
expect 3 '--rounds' tune --rounds 1
expect 4 'no device at 0000:99:00.0' tune --device 0000:99:00.0
FAKE_CUDA=nan expect 1 'WRONG' verify --shape 2x64x24 --kernel naive
FAKE_CUDA=nodevice expect 4 'sees no device' tune
FAKE_CUDA=cc=75 expect 4 'compute capability 7.5' verify
FAKE_CUDA=fail=9 expect 3 'LAUNCH_FAILED' verify --shape 2x64x24
LD_LIBRARY_PATH= expect 4 'libcuda.so.1' verify

# An output in a file, and others against it.
d=$(mktemp -d)
v="verify --shape 2x64x24"
expect 0 ' ok$' $v --kernel naive --dump "$d/y"
[ "$(head -n 1 "$d/y")" = "barscope-dump 1" ] && [ "$(tail -c 96 "$d/y" | wc -c)" = 96 ] || bad=1
expect 0 '^naive +the same bits$' $v --kernel naive --against "$d/y"
expect 0 '^tiled_8x128x16 +the same bits$' $v --against "$d/y" # the fake sums in one order
expect 0 '"differ": 0' $v --kernel naive --against "$d/y" --json
{
    head -c -2 "$d/y"
    printf '\x01\x3c'
} >"$d/other"
expect 1 '^naive +1 of 48 differ, most y\[1\]\[23\]: .* WRONG: same kernel$' $v --kernel naive \
    --against "$d/other"
expect 0 '^tiled_8x128x16 +1 of 48 differ, most y\[1\]\[23\]: [-0-9.e]+, was 1.00097656$' $v \
    --kernel tiled_8x128x16 --against "$d/other"
expect 3 'is of 2x64x24 f16 with seed 1, which is not what is verified' verify --shape 2x64x25 \
    --against "$d/y"
head -c 180 "$d/y" >"$d/cut"
expect 3 'holds [0-9]+ bytes of outputs where 2x64x24 f16 has 96' $v --against "$d/cut"
sed '1s/1$/2/' "$d/y" >"$d/later"
expect 3 'written by a later barscope' $v --against "$d/later"
sed 's/^seed/sead/' "$d/y" >"$d/bad"
expect 3 'the head of the dump is damaged' $v --against "$d/bad"
echo hello >"$d/no"
expect 3 "is no output that 'verify --dump' wrote" $v --against "$d/no"
expect 3 'nosuch' $v --against "$d/nosuch"
expect 3 'nosuch' $v --kernel naive --dump "$d/nosuch/y"

# What a recorded run has stored is what verify must find again.
export XDG_DATA_HOME=$d/data
"$BARSCOPE" stress --backend cuda --shape 2x64x24 --kernel naive --copies 3 --samples 50 \
    --record golden >/dev/null 2>&1 || bad=1
expect 0 '^  hash 0x[0-9a-f]+; the same as since ' $v --kernel naive
python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
c.execute("update goldens set hash = hash + 1")
c.commit()' "$d/data/barscope/barscope.db"
expect 1 'hash 0x[0-9a-f]+, where it was 0x[0-9a-f]+ on ' $v --kernel naive
rm -rf "$d"
exit $bad
