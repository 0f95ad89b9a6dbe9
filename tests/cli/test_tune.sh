#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `tune` and `verify` as a user meets them, on libraries that compute on the CPU (tests/fakes,
# which LD_LIBRARY_PATH names): output, exit statuses, and one sentence for each trouble.
set -uo pipefail

bad=0
dir=$(mktemp -d)
out=$dir/out
export XDG_CACHE_HOME=$dir/cache XDG_DATA_HOME=$dir/data
trap 'rm -rf "$dir"' EXIT
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
# The winner is kept and taken by stress; a damaged file is a note; another driver is a miss.
"$BARSCOPE" tune --shape 2x64x24 --copies 3 --rounds 5 >/dev/null
kernel=$(sed -n 's/^ *"kernel": *"\([^"]*\)".*/\1/p' "$dir/cache/barscope/choices.json")
expect 0 "kernel $kernel \(tuned\)" stress --backend cuda --shape 2x64x24 --copies 3 --samples 40
expect 0 '"tuned": false' stress --backend cuda --shape 2x64x24 --hot --samples 40 --json
expect 0 'that of an earlier search' tune --shape 2x64x24 --copies 3 --rounds 3
FAKE_CUBLASLT=refuse expect 0 'does not take the cached algorithm' tune --shape 2x64x24 --copies 3 --rounds 3
FAKE_CUBLASLT=refuse expect 0 'its best .* of 2$' tune --shape 2x64x24 --copies 3 --rounds 3 --fresh
sed -i 's/"kernel": "/"kernel": "x/' "$dir/cache/barscope/choices.json"
expect 0 'choices.json is damaged or not barscope.s: ignored' stress --backend cuda --shape 2x64x24 --copies 3 --samples 40
expect 0 '"tuned": false' stress --backend cuda --shape 2x64x24 --copies 3 --samples 40 --json

# The ladder's last rows come from the store.
expect 0 "no run 'after' of this GPU" tune --shape 2x64x24 --copies 3 --rounds 3 --ladder
expect 0 'recorded' stress --backend cuda --shape 2x64x24 --copies 3 --samples 40 --record after
expect 0 "after the BIOS change .* run 1 of 'after'" tune --shape 2x64x24 --copies 3 --rounds 3 --ladder

# Rows at any place are multiplied right.
expect 0 '^aligned +[0-9.]+ +1.00x' tune --shape 2x64x24 --copies 3 --rounds 3 --misaligned
expect 0 '^all of these +[0-9.]+ +[0-9.]+x .*(naive|tiled)' tune --shape 2x64x24 --copies 3 --rounds 3 --misaligned
expect 0 '"rows_lie": "W 1 element on"' tune --shape 3x32x9 --dtype f32 --copies 2 --rounds 3 --misaligned --json
FAKE_CUDA=nan expect 1 'nothing right was measured' tune --shape 2x64x24 --copies 3 --rounds 3 --misaligned
expect 3 'needs a K of 16' tune --shape 2x15x24 --misaligned
expect 3 'does not go with' tune --misaligned --ladder

# Modes, a token, hot and cold.
expect 0 '^batches +[0-9.]+ .?.s from one start to the next' stress --backend cuda --shape 2x64x24 --copies 3 --mode graph --samples 40
expect 0 '^2x64x24 f16, queued, ' stress --backend cuda --shape 2x64x24 --copies 3 --mode queued --samples 40
expect 0 '^weights +hot: 1 copy of 3 KiB' stress --backend cuda --shape 2x64x24 --hot --samples 40
expect 0 '^weights +cold: ' stress --backend cuda --shape decode:32x48*3 --mode graph --samples 40
expect 0 '"decoder_layers": 3' stress --backend cuda --shape 'decode:32x48*3' --samples 40 --json
expect 3 'takes isolated, queued or graph' stress --mode fast
expect 3 'is not decode7b, decode13b' stress --shape decode8b
expect 3 'is for isolated launches' stress --backend cuda --mode graph --paced 1ms
expect 3 'a CPU has no queue' stress --backend cpu --mode graph --shape 1x64x64 --seconds 1

# The CPU: own kernels, and what others have where it is installed.
expect 0 '^openblas f32 +([0-9.]+ |OpenBLAS is not installed)' tune --backend cpu --shape 1x256x64 --copies 2 --rounds 3 --threads 1
grep -qE '^onednn bf16 +([0-9.]+ |oneDNN )' "$out" || { echo "oneDNN is not spoken of"; bad=1; }
grep -qE 'reading alone$' "$out" || { echo "the floor is missing"; bad=1; }
expect 0 '^all of these +[0-9.]+ +[0-9.]+x' tune --backend cpu --shape 3x64x40 --dtype f32 --copies 2 --rounds 3 --misaligned
expect 0 '"rows_lie": "rows of W 1 shorter"' tune --backend cpu --shape 3x64x40 --copies 2 --rounds 3 --misaligned --json
expect 3 '--backend takes cuda or cpu' tune --backend gpu
expect 3 'belongs to --backend cpu' tune --threads 2
expect 3 'goes with --shape' tune --backend cpu --ladder
expect 3 'may run on' tune --backend cpu --threads 65000 --shape 1x64x64

# All GPUs of a machine. On a busy one a worker may not get to run within the window: 2 then.
all_gpus() { # PATTERN ARGUMENTS...
    local pattern=$1
    shift
    FAKE_CUDA=devices=2 "$BARSCOPE" stress --device all --shape 2x64x24 --copies 3 \
        --seconds "${seconds:-0.5}" "$@" >"$out" 2>&1
    local got=$?
    if { [ $got -ne 0 ] && [ $got -ne 2 ]; } || ! grep -qE -- "$pattern" "$out" || ! grep -q '0000:42:00.0' "$out"; then
        echo "all GPUs $*: status $got, or no '$pattern' in:"
        cat "$out"
        bad=1
    fi
}
all_gpus 'together against alone: p50|nothing was measured'
all_gpus '"schema": "barscope.stress-all/1"' --mode graph --json
FAKE_CUDA=nodevice expect 4 'sees no device' stress --device all
FAKE_CUDA=devices=2,fail=9 expect 3 'LAUNCH_FAILED' stress --device all --shape 2x64x24 --copies 3 --seconds 0.3
expect 3 'is for cuda, and goes with' stress --device all --samples 9
expect 3 '57 bytes at most' stress --device all --record "$(printf 'x%.0s' $(seq 58))"

# Each of them is recorded: all together under the label, each alone beside it; and compared with
# itself.
seconds=2 all_gpus 'recorded together: run [12]$' --record both
all_gpus '"run": [5-8]' --record more --json
runs=$("$BARSCOPE" runs list 2>"$out")
for label in both both-alone more more-alone; do
    [ "$(grep -cE "^ +[0-9]+  $label +20.* done " <<<"$runs")" = 2 ] || {
        echo "not two runs '$label':"
        echo "$runs"
        bad=1
    }
done
for gpu in 0000:41:00.0 0000:42:00.0; do
    expect 2 "^  cuda Fake GPU at $gpu 2x64x24 f16, host latency" compare both both-alone
done

# A store that stops taking runs: what never ran is no "done" run, and what was found together stays.
store=$dir/breaks.db
sql() { # SQL: its rows
    python3 -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    for row in db.execute(sys.argv[2]): print(*row, sep="|")' "$store" "$1"
}
both_gpus() { # STATUS LABEL: two GPUs into the store
    FAKE_CUDA=devices=2 "$BARSCOPE" stress --device all --shape 2x64x24 --copies 3 --seconds 1 \
        --store "$store" --record "$2" >"$out" 2>&1
    local got=$?
    [ $got -eq 2 ] && [ "$1" -eq 0 ] && got=0 # busy: nothing came within the window
    if [ $got -ne "$1" ]; then
        echo "all GPUs into $2: status $got instead of $1"
        cat "$out"
        bad=1
    fi
}
both_gpus 0 fine
sql "create trigger no_room before insert on runs when new.label like '%-alone'
     begin select raise(abort, 'no room'); end" && sql 'update goldens set hash = hash + 1'
both_gpus 1 broken
grep -qE 'corruption: ' "$out" || { echo 'what was found together is lost'; cat "$out"; bad=1; }
[ "$(sql "select label, state from runs where label like 'broken%'" | sort | uniq -c | xargs)" = '2 broken|done' ] ||
    { echo 'not two runs together'; sql 'select label, state from runs'; bad=1; }
sql "create trigger one before insert on runs when exists (select 1 from runs where label = new.label)
     begin select raise(abort, 'no room'); end"
both_gpus 3 never
[ "$(sql "select state from runs where label = 'never'")" = failed ] ||
    { echo 'a run that never ran did not fail'; sql 'select label, state from runs'; bad=1; }
exit $bad
