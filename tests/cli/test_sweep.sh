#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Crash hunting: `stress --sweep` and `--fill` on the CPU, and on a GPU (tests/fakes) whose memory
# is broken at a known place. Every step is in the store before it happens.
set -uo pipefail

dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME=$dir/data
bad=0
out=$dir/out
expect() { # STATUS PATTERN ARGUMENTS...
    local want=$1 pattern=$2
    shift 2
    "$BARSCOPE" stress "$@" >"$out" 2>&1
    local got=$?
    if [ $got -ne "$want" ] || ! tr '\n' ' ' <"$out" | tr -s ' ' | grep -qE -- "$pattern"; then
        echo "barscope stress $*: status $got instead of $want, or no '$pattern' in:"
        cat "$out"
        bad=1
    fi
}
ask() { # STORE SQL
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$@"
}
same() { # WHAT WANT GOT
    if [ "$2" != "$3" ]; then
        printf '%s:\nwanted\n%s\ngot\n%s\n' "$1" "$2" "$3"
        bad=1
    fi
}

# Shape after shape: each a run, and each step of the load said before it is made.
expect 0 '1x64x64 .* ok 2x512x512 .* ok ' --backend cpu --threads 1 --sweep=1x64x64,2x512x512 \
    --seconds 0.2 --store "$dir/a.db"
same "steps" "1|start of the worker: cpu 1x64x64 f16
1|load 50 %: cpu 1x64x64 f16
1|load 75 %: cpu 1x64x64 f16
1|load 100 %: cpu 1x64x64 f16
2|start of the worker: cpu 2x512x512 f16
2|load 50 %: cpu 2x512x512 f16
2|load 75 %: cpu 2x512x512 f16
2|load 100 %: cpu 2x512x512 f16" "$(ask "$dir/a.db" 'select run, step from intents order by id')"
same "runs" "sweep|done
sweep|done" "$(ask "$dir/a.db" 'select label, state from runs order by id')"

# One that cannot run ends alone.
expect 3 '1x64x64 .* ok 1x16777216x65536 .* FAILED .* needs 4.* TiB .*2x64x64 .* ok ' \
    --backend cpu --sweep=1x64x64,1x16777216x65536,2x64x64 --seconds 0.1
expect 1 '1x64x64 .* CORRUPT copy [0-9]+: transient' --backend cpu --sweep=1x64x64 --seconds 2 \
    --inject-fault output
expect 3 "--sweep: shape '2x' is not MxKxN" --backend cpu --sweep=1x64x64,2x --seconds 0.1
expect 0 '"schema": "barscope.sweep/1".*"shape": "1x64x64"' --backend cpu --sweep=1x64x64 \
    --seconds 0.1 --json
expect 3 '--sweep takes its shapes itself' --sweep --shape 1x64x64

# The machine goes down while the load rises: the store says how far it was.
"$BARSCOPE" stress --backend cpu --threads 1 --fill 8M --shape 1x256x256 --store "$dir/k.db" \
    >"$out" 2>&1 &
front=$!
for _ in $(seq 1200); do # a minute
    [ "$(ask "$dir/k.db" "select count(*) from intents where step like 'load 50%'" 2>&1)" = 1 ] &&
        break
    sleep 0.05
done
kill -9 $front
wait $front 2>/dev/null
case $(ask "$dir/k.db" 'select step from intents order by id desc limit 1') in
"load "*" %: cpu 1x256x256 f16") ;;
*)
    echo "the last step is not in the store"
    bad=1
    ;;
esac

# All of the memory that was asked for: a pattern first, then weights, with checksums.
expect 0 '512 copies of 128 KiB in turn' --backend cpu --shape 1x256x256 --threads 1 \
    --fill 64M --seconds 0.3
expect 0 'samples' --backend cuda --shape 2x64x40 --fill 4M --seconds 0.3 --store "$dir/f.db"
same "fill" "fill|done" "$(ask "$dir/f.db" 'select label, state from runs')"
# Eight words stay 0, in the copy that begins at byte 996,160 of what was allocated.
FAKE_CUDA=broken=1000000 expect 1 'memory does not keep what is written: (8|9) words of 8 bytes from GPU address 0x[0-9a-f]+ to 0x[0-9a-f]+, the first in copy 195 of' \
    --backend cuda --shape 2x64x40 --fill 4M --seconds 0.3 --store "$dir/b.db"
same "broken" "failed" "$(ask "$dir/b.db" 'select state from runs')"
same "event" "corruption|5" "$(ask "$dir/b.db" 'select source, code from events where source = "corruption"')"
# One place at two addresses: every copy of the weights would look right.
FAKE_CUDA=alias=512000 expect 1 'memory does not keep what is written: 512 words' --backend cuda \
    --shape 1x64x1024 --fill 4M --seconds 0.3
expect 3 'of the GPU.s memory cannot be filled: 7(.00)? GiB are free' --backend cuda --shape 2x64x40 \
    --fill 8G --seconds 0.3 --store "$dir/f.db"
expect 3 '--fill takes a share' --fill all
expect 3 '--fill decides how many copies' --fill 10% --copies 3
exit $bad
