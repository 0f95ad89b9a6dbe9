#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Injected causes, on the CPU back end and without privilege: the attribution names the right one in
# nine of ten episodes; on a quiet script, where nothing happens beside the launches, it names
# nothing.
set -u

for tool in pgrep taskset timeout; do
    command -v $tool >/dev/null || {
        echo "$tool is not there"
        exit 77
    }
done
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME=$dir/data
bad=0

record() { # LABEL ARGUMENTS...
    local label=$1
    shift
    "$BARSCOPE" stress "$@" --record "$label" >"$dir/out" 2>&1 || {
        cat "$dir/out"
        exit 99
    }
}
# Episodes of at least MIN ms in the last run of LABEL: one line each, what they are put down to.
named() { # LABEL MIN
    local run
    run=$("$BARSCOPE" runs list --label "$1" | awk 'END { print $1 }')
    "$BARSCOPE" runs show "$run" --json | awk -v min="$2" '
        /"episodes": \[/ { on = 1 }
        on && /"worst_ns"/ { gsub(/[^0-9]/, ""); worst = $0 / 1e6 }
        on && /"associated_with"/ { split($0, f, "\""); by = f[4] }
        on && /^ *}/ { if (worst >= min) print by == "" ? "unexplained" : by; by = ""; worst = 0 }'
}
expect() { # LABEL SOURCE MIN LEAST: at least LEAST episodes, nine of ten put down to SOURCE
    local all right
    all=$(named "$1" "$3" | wc -l)
    right=$(named "$1" "$3" | grep -c "^$2\$")
    echo "$1: $right of $all episodes put down to $2"
    if [ "$all" -lt "$4" ] || [ $((right * 10)) -lt $((all * 9)) ]; then
        echo "FAIL: $1"
        named "$1" "$3" | sort | uniq -c
        bad=1
    fi
}

worker_of() { # FRONT: waits for its worker
    local w=
    for _ in $(seq 100); do
        w=$(pgrep -P "$1" | head -n 1)
        [ -n "$w" ] && break
        sleep 0.05
    done
    echo "$w"
}

# A worker that is stopped now and then, by SIGSTOP.
record stopped --shape 1x1024x4096 --threads 1 --seconds 10 &
front=$!
worker=$(worker_of "$(pgrep -P $front | head -n 1)")
[ -n "$worker" ] || worker=$(worker_of $front)
sleep 3
for pause in 0.3 0.2 0.4 0.25 0.3 0.2 0.3; do
    kill -STOP "$worker"
    sleep $pause
    kill -CONT "$worker"
    sleep 0.6
done
wait $front
expect stopped stopped 150 4

# A neighbour on the same core: three loops that do nothing else, for half a second each.
record neighbour --shape 1x1024x4096 --threads 1 --seconds 12 &
front=$!
worker=$(worker_of "$(pgrep -P $front | head -n 1)")
[ -n "$worker" ] || worker=$(worker_of $front)
sleep 4
core=$(grep -h Cpus_allowed_list /proc/"$worker"/task/*/status | awk '{ print $2 }' | sort -n |
    grep -v '[-,]' | head -n 1)
for _ in 1 2 3 4; do
    for _ in 1 2 3; do
        timeout 0.6 taskset -c "${core:-0}" sh -c 'while :; do :; done' &
    done
    sleep 1.2
done
wait $front
expect neighbour preempted 5 4

# Spikes in a script: episodes there are, and nothing stands beside them.
awk 'BEGIN { srand(2); for (i = 0; i < 2000; i++)
    printf "%d %d %d %d\n", 2500 + rand() * 300, 200000 + rand() * 9000 + (i % 500 == 9) * 900000,
        1500 + rand() * 90, 800000
    print "again" }' >"$dir/spikes"
record quiet --backend script --script "$dir/spikes" --speed max --seconds 60
count=$(named quiet 0 | wc -l)
named=$(named quiet 0 | grep -vc unexplained)
echo "quiet script: $count episodes, $named put down to something"
[ "$count" -gt 50 ] && [ "$named" -eq 0 ] || bad=1
exit $bad
