#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Verified outputs' hashes in the store: the first is kept, later runs are compared with it, and a
# difference is a finding, recorded or not.
set -uo pipefail

dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME=$dir/data
bad=0
out=$dir/out
store=$dir/g.db
expect() { # STATUS PATTERN ARGUMENTS...
    local want=$1 pattern=$2
    shift 2
    "$BARSCOPE" stress --backend cpu --threads 1 --shape 3x64x128 --samples 500 --store "$store" \
        "$@" >"$out" 2>&1
    local got=$?
    if [ $got -ne "$want" ] || ! tr '\n' ' ' <"$out" | tr -s ' ' | grep -qE -- "$pattern"; then
        echo "barscope stress $*: status $got instead of $want, or no '$pattern' in:"
        cat "$out"
        bad=1
    fi
}
ask() { # SQL
    python3 -c 'import sqlite3, sys
c = sqlite3.connect(sys.argv[1])
for row in c.execute(sys.argv[2]): print(*row, sep="|")
c.commit()' "$store" "$1"
}

# Without a store nothing is compared, and none is made. The kernel is named: a trial chooses one.
expect 0 'output hash 0x[0-9a-f]+, the same in every sample error' --kernel ref
[ ! -e "$store" ] || {
    echo "a store was made"
    bad=1
}
expect 0 'golden first of its kind, stored for later runs' --kernel ref --record a
expect 0 'golden the same as since [-0-9]+ [0-9:]+, 2 times' --kernel ref --record b
expect 0 '"golden": "same"' --kernel ref --json
# Another seed, another kind.
expect 0 'golden first of its kind' --kernel ref --record c --seed 2
[ "$(ask 'select kernel, shape, dtype, seed, seen from goldens order by seed')" = \
    'ref|3x64x128|f16|1|2
ref|3x64x128|f16|2|1' ] || {
    ask 'select * from goldens'
    bad=1
}

# The machine computes something else than it did.
ask 'update goldens set hash = hash + 1 where seed = 1'
expect 1 'corruption hash 0x[0-9a-f]+, where it was 0x[0-9a-f]+ on .* with the same kernels and' \
    --kernel ref
expect 1 '"golden": "differs"' --kernel ref --record d --json
case $(ask "select note from events where source = 'golden'") in
"hash 0x"*", where it was 0x"*) ;;
*)
    echo "the difference is no event of the run"
    bad=1
    ;;
esac
expect 0 'golden the same as since' --kernel ref --record e --seed 2
exit $bad
