#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Studies over made-up boots: a root folder whose boot id and governor change stands for the
# machine, scripts for its latencies. Everything else is the real program, worker and store.
set -u

dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export BARSCOPE_ROOT=$dir/root XDG_DATA_HOME=$dir/data NO_COLOR=1
bad=0

latencies() { # SPREAD SEED
    awk -v sd="$1" -v seed="$2" 'BEGIN { srand(seed); for (i = 0; i < 2000; i++) {
        u = 0; for (j = 0; j < 6; j++) u += rand() - .5
        printf "%d %d %d 1000000\n", 2500 + rand() * 300, 3000000 * (1 + sd * u), 1500 }
        print "again" }' >"$dir/script"
}
boot() { # ID GOVERNOR: the machine came up like this
    local cpu=$dir/root/sys/devices/system/cpu/cpu0/cpufreq
    mkdir -p "$dir/root/proc/sys/kernel/random" "$cpu"
    echo "$1" >"$dir/root/proc/sys/kernel/random/boot_id"
    echo "$2" >"$cpu/scaling_governor"
    [ "$2" = performance ] && latencies 0.02 "$1" || latencies 0.05 "$1"
}
expect() { # RC PATTERN ARGUMENTS...
    local rc=$1 pattern=$2 out got
    shift 2
    out=$("$BARSCOPE" "$@" 2>&1)
    got=$?
    if [ $got -ne "$rc" ] || ! grep -qE -- "$pattern" <<<"$out"; then
        echo "FAIL: barscope $*: status $got, wanted $rc; no line like '$pattern' in:"
        sed 's/^/    /' <<<"$out"
        bad=1
    fi
}
stress=(-- --backend script --script "$dir/script" --speed max --seconds 12)

boot 1 powersave
expect 3 'no store' study status
expect 3 'say new, run' study
expect 3 'none of new' study dance
expect 3 'needs --change' study new x
expect 3 "study's name is" study new 'a b' --change c
expect 3 "study's name is" study new 17 --change c
expect 3 "verdict's id or env" study new x --change c --fact nonsense
expect 3 'is one of: ' study new x --change c --fact rebar=purple
expect 3 'number from 1 to 64' study new x --change c --boots 0
expect 3 'script back end needs' study new x --change c -- --backend script
expect 3 'leave them out' study new x --change c -- --record y
expect 3 'M, K and N|shape' study new x --change c --shapes 1x2
expect 3 'leave --shape out' study new x --change c --shapes 1x8x8 --boots 5 -- --shape 1x8x8
expect 3 "'nowhere' is no PCI address" study new x --change c --gpu nowhere
expect 0 'usage' study --help

# Four boots a side in balanced order, filed by what the machine is.
expect 0 'boot with the governor OFF \(A\).*: 1 of 8' study new gov --change 'the governor' \
    --fact env.governor --warmup 30 "${stress[@]}"
expect 3 'already' study new gov --change x
expect 0 'assumed' study status gov
expect 3 "no study 'other'" study run other
expect 2 'no measured boot on A' study report gov
expect 0 'filed as A: measured' study run gov
expect 2 'boot on B yet.*: A has 1 of 4 measured boots, B 0 of 4' study report gov
expect 2 'none.html is not written' study report gov --html "$dir/none.html"
expect 0 'this boot is filed already' study run gov
expect 0 'this boot is filed already' study run gov --side a
expect 3 'side takes A' study run gov --side C
expect 3 'as A: a boot is on one side. B is what you file after the next' study run gov --side B
expect 3 'as A: measured. That stays' study run gov --did-not-start 'no picture'
expect 0 'governor ON \(B\).*: 2 of 8' study status gov
# The user booted the wrong state: it is filed as what it is, and the plan goes on.
boot 2 powersave
expect 2 'this boot is not B: env.governor is powersave here' study run gov --side B
expect 0 'steady after' study run gov
expect 0 'governor ON \(B\).*: 3 of 8' study status gov
boot 3 performance
expect 0 'this boot is B: env.governor is performance' study run gov
expect 2 'One boot a side is a description' study report gov
for b in 4:performance 5:performance 6:powersave 7:powersave; do
    boot "${b%%:*}" "${b#*:}"
    expect 0 'filed as' study run gov
done
expect 2 '4 and 3 boots are a description' study report gov
# Three boots of a side tell how much boots differ by themselves.
expect 0 'filed so far' study status gov
expect 0 '"from": "study"' study status gov --json
expect 0 '"ratio_most": 1\.' study status gov --json
# Killed in the middle: the next call goes on where it stopped.
boot 8 performance
"$BARSCOPE" study run gov >/dev/null 2>&1 &
pid=$!
sleep 0.6
kill -9 $pid 2>/dev/null
wait $pid 2>/dev/null
expect 0 '' study run gov
expect 0 'The study is complete' study status gov
expect 0 'B is steadier: its spread is 0\.[34].* 4 against 4 boots' study report gov
expect 0 '"verdict": "better"' study report gov --json
expect 0 '"outcome": "measured"' study report gov --json
expect 0 '^B,' study report gov --csv
"$BARSCOPE" study report gov --html "$dir/page.html" >/dev/null
if ! grep -q '<section class="study">' "$dir/page.html" ||
    [ "$(grep -c '<td class="t">measured</td>' "$dir/page.html")" -ne 8 ]; then
    echo "FAIL: the page does not list the study's eight boots"
    bad=1
fi
expect 0 '"outcome": "measured"' study status gov --json
expect 0 '"next": null' study status gov --json
expect 0 'ExecStart=.*study run gov --store' study unit gov
[ "$("$BARSCOPE" runs list --label gov/A --json | grep -c '"boot": "1"')" -eq 3 ] || {
    echo "FAIL: boot 1 has not three runs"
    bad=1
}
# Its sides have names elsewhere too.
expect 2 'governor' compare study:gov/A study:gov/B
expect 0 'B is steadier' compare study:gov/A study:gov/B --despite governor
expect 3 "sides are A and B" compare study:gov/C study:gov/B
expect 0 '12 runs written' runs export study:gov/A -o "$dir/a.barscope"
expect 2 '' compare "$dir/a.barscope" study:gov/B

# Not told by the machine: by hand or not at all.
expect 0 '1 of 8' study new blind --change x --fact above4g.aperture "${stress[@]}"
expect 0 '"from": "store"' study status blind --json
expect 0 '"boots": 8' study status blind --json
expect 2 'cannot be told on this machine' study run blind
expect 0 'filed as A' study run blind --side A
expect 0 '1 of 2' study new hand --change x --boots 1 --restarts 1 "${stress[@]}"
expect 3 'say --side A or B' study run hand
expect 0 "say 'barscope study run hand --side A'" study status hand
expect 3 'has no fact, so no unit' study unit hand
expect 3 'takes A' study run hand --side C

# B never starts: a result, and with four boots a side a verdict.
expect 0 '' study new dead --change card --restarts 1 --warmup 0 "${stress[@]}"
for b in 1 2 3 4; do
    boot "d$b" powersave
    expect 0 'filed as A: measured' study run dead --side A
done
for b in 5 6 7 8; do
    boot "d$b" powersave
    echo "fail" >"$dir/script"
    expect 0 'filed as B: did-not-start' study run dead --side B
done
expect 1 'B did not start in 4 of 4 boots \(p = 0.029\)' study report dead
expect 0 '' study new once --change card --restarts 1 --warmup 0 "${stress[@]}"
boot d9 powersave
expect 0 'filed as A' study run once --side A
boot d10 powersave
expect 0 'did-not-start: black screen' study run once --side B --did-not-start 'black screen'
expect 2 'B did not start in 1 of 1 boots' study report once

# A run of nobody's study is damaged: the plan's noise is assumed then, and nothing else changes.
if command -v python3 >/dev/null; then
    python3 -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("UPDATE rollups SET hist = ? WHERE run IN (SELECT id FROM runs WHERE label LIKE ?)", (b"\xff", "gov/%"))
d.commit()' "$dir/data/barscope/barscope.db"
    expect 0 'holds a damaged histogram' study status once
    expect 0 '"from": "assumed"' study status once --json
    boot d11 powersave
    expect 0 'filed as A: measured' study run once --side A

    # A shape among the stress options that an earlier version has stored beside --shapes.
    expect 0 '' study new twice --change card --restarts 1 --warmup 0 --boots 5 --shapes 1x16x32 \
        -- --backend cpu --threads 1 --seconds 1
    python3 -c 'import sqlite3, sys, json
d = sqlite3.connect(sys.argv[1])
(text,) = d.execute("SELECT options FROM studies WHERE name = ?", ("twice",)).fetchone()
options = json.loads(text)
options["stress"] += ["--shape", "1x64x64", "--shape=1x64x64"]
d.execute("UPDATE studies SET options = ? WHERE name = ?", (json.dumps(options), "twice"))
d.commit()' "$dir/data/barscope/barscope.db"
    expect 0 'filed as A: measured' study run twice --side A
    expect 0 '"shape": "1x16x32"' runs show twice/A --json
fi
exit $bad
