#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_runs.sh MAKE_RUN: the commands runs and compare on made-up runs of several boots.
set -u

make_run=$1
dir=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
export BARSCOPE_ROOT=$dir/root XDG_DATA_HOME=$dir/data NO_COLOR=1
unset LC_ALL
export LC_CTYPE=C.UTF-8
store=$dir/data/barscope/barscope.db
bad=0

boot() { # ID [KERNEL]: the machine has rebooted
    mkdir -p "$dir/root/proc/sys/kernel/random"
    echo "$1" >"$dir/root/proc/sys/kernel/random/boot_id"
    echo "${2:-6.1.0-1}" >"$dir/root/proc/sys/kernel/osrelease"
}
expect() { # RC PATTERN ARGUMENTS...: exit status, and a pattern in what it says
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

# Before there is anything.
boot 1
expect 3 'there is no store at .*stress --record' runs list
expect 3 "no store" compare a b
expect 3 'Try' runs
expect 3 "none of list" runs dance
expect 3 "argument" runs show
expect 3 "no option" runs list --nonsense
expect 0 'usage' runs --help
expect 0 'usage' compare --help
expect 3 'argument' compare a

# Four boots a side, B steadier.
for b in 1 2 3 4; do
    boot "a$b" && "$make_run" "$store" before sd=0.05 seed=$b || exit 99
    boot "b$b" && "$make_run" "$store" after sd=0.015 seed=1$b || exit 99
done
expect 0 '^ +1 +before .* done +cpu +1x4096x11008' runs list
expect 0 '"schema": "barscope.runs/1"' runs list --json
expect 0 '"p50_ns": 3[89][0-9]+' runs list --json --label after
expect 0 '"band": 0\.0[78]' runs list --json --label before
expect 0 'lag-1' runs show 3
expect 0 '^ +[0-9.]+ s  first launch of avx2' runs show 3
expect 0 '"step": "first launch of avx2"' runs show 3 --json
expect 0 '"schema": "barscope.run/1"' runs show run:3 --json
expect 3 'names 4 runs' runs show before --json
expect 3 'there is no run 99' runs show 99
expect 3 "no run .* label 'nothing'" runs show nothing
expect 0 'B is steadier: its spread is 0\.3. times' compare before after
expect 1 'B is less steady' compare after before
expect 0 '"verdict": "better"' compare before after --json
expect 0 '^A,1,"before","a1",.*"gemm","host"' compare before after --csv
expect 2 'One boot a side is a description and no verdict' compare 1 2
expect 2 'One boot a side' compare before 2
expect 3 'argument' compare before
expect 3 "label 'nothing'" compare before nothing

# What is said before a run: nothing is known, one boot a label, four.
printf '2600 22000 1600 250000 repeat=1000\n2700 23000 1600 260000 repeat=1000\nagain\n' >"$dir/script"
noise() { # LABEL STORE
    echo stress --backend script --script "$dir/script" --speed max --seconds 2 --record "$1" --store "$2"
}
# shellcheck disable=SC2046
{
    boot f1
    expect 0 'noise floor: no earlier run of this configuration' $(noise same "$dir/noise.db")
    expect 0 'noise floor: 1 earlier run, but no label with two boots' $(noise same "$dir/noise.db")
    boot f2
    expect 0 'within a boot the band differs by a factor of 1.00, 2 earlier runs, but no label' $(noise same "$dir/noise.db")
    expect 0 'between boots of one label by a factor of 1.00 \(3 runs, 2 boots\); 4 . 4 boots' $(noise same "$dir/noise.db")
}

# The same boot on both sides is no comparison of boots.
expect 2 'one and the same boot' compare before before

# A/A: no difference shown.
for b in 5 6 7 8; do
    boot "a$b" && "$make_run" "$store" again sd=0.05 seed=$b || exit 99
done
expect 0 'No difference shown' compare before again
expect 0 '"verdict": "no-difference-shown"' compare before again --json

# Something else changed too: named, unless it was meant.
for b in 1 2 3 4; do
    boot "k$b" 6.9.9-9 && "$make_run" "$store" newkernel sd=0.015 seed=$b || exit 99
done
expect 2 'Not comparable: kernel differs \(6.1.0-1 against 6.9.9-9\)' compare before newkernel
expect 0 'B is steadier' compare before newkernel --despite kernel
boot t1 && "$make_run" "$store" threads threads=3 || exit 99
expect 3 "'kernal' is no difference that barscope knows" compare before newkernel --despite kernal
expect 0 'B is steadier' compare before newkernel --despite kernel,threads
expect 3 'give one of them' compare before after --json --csv
expect 2 'Not comparable: threads differs \(1 against 3\)' compare before threads
boot s1 && "$make_run" "$store" othershape shape=1x8x8 || exit 99
expect 2 'no back end, shape and type in common' compare before othershape

# The machine's differences.
for m in a b; do
    bar="0x00000000e0000000 0x00000000e00fffff"
    [ $m = b ] && bar="0x0000004000000000 0x00000040ffffffff"
    cat >"$dir/$m.rec" <<REC
P: /devices/pci0000:00/0000:00:02.0
E: SUBSYSTEM=pci
A: vendor=0x10de
A: device=0x2204
A: class=0x030000
A: resource=$bar 0x000000000014220c
REC
    boot "m$m" && "$make_run" "$store" "m$m" machine="$dir/$m.rec" || exit 99
done
expect 2 'BAR 0 +1 MiB at 0xe0000000 → 4 GiB at 0x4000000000' compare ma mb
expect 2 '"schema": "barscope.diff/1"' compare ma mb --json
expect 2 'not known: .*kept no machine; .*kept no machine' compare 1 2

# Bundles: another store, the same numbers.
expect 0 '4 runs written' runs export before -o "$dir/before.barscope"
expect 3 'exists already' runs export before -o "$dir/before.barscope"
expect 3 'needs -o' runs export before
expect 3 'No such file or directory' runs export before -o "$dir/nosuch/x.barscope"
expect 3 'name a FILE' runs export before -o -
[ ! -e "$dir/nosuch" ] && [ ! -e - ] || {
    echo "FAIL: a refused export leaves something"
    bad=1
}
# Where nothing can be written, no file is left.
mkdir "$dir/full"
(trap '' XFSZ && ulimit -f 0 && exec "$BARSCOPE" runs export before -o "$dir/full/x.barscope") \
    >/dev/null 2>&1
[ $? -eq 3 ] && [ -z "$(ls -A "$dir/full")" ] || {
    echo "FAIL: an export onto a full disk leaves $(ls -A "$dir/full")"
    bad=1
}
expect 0 '4 runs added' runs import "$dir/before.barscope" --store "$dir/other.db"
expect 0 '0 runs added, 4 already there' runs import "$dir/before.barscope" --store "$dir/other.db"
expect 0 'B is steadier' compare "$dir/before.barscope" after
expect 2 'one and the same boot' compare before "$dir/before.barscope"
one=$("$BARSCOPE" runs show 3 --json | grep -v '"id"')
two=$("$BARSCOPE" runs show 2 --json --store "$dir/other.db" | grep -v '"id"')
[ -n "$one" ] && [ "$one" = "$two" ] || { echo "FAIL: an imported run differs"; bad=1; }
head -c 20000 "$dir/before.barscope" >"$dir/cut.barscope"
expect 3 'damaged|malformed' runs import "$dir/cut.barscope" --store "$dir/other.db"
expect 3 'not a barscope store' runs import "$make_run" --store "$dir/other.db"
expect 3 'No such file' runs import "$dir/none" --store "$dir/other.db"

# What was left open: of this boot, and of an earlier one.
boot open1 && { "$make_run" "$dir/open.db" lost end=open & wait $!; } 2>/dev/null
expect 0 'lost .* died ' runs list --store "$dir/open.db"
boot open2
expect 0 'lost .* machine-down ' runs list --store "$dir/open.db"
expect 0 '"state": "machine-down"' runs list --json --store "$dir/open.db"
"$make_run" "$dir/open.db" next || exit 99
expect 0 'the machine went down during the run, .*the last step' runs show 1 --store "$dir/open.db"

# Removing.
expect 0 'run 1 \(before\) removed' runs rm 1
expect 0 '3 runs written' runs export before -o "$dir/three.barscope"
expect 0 'run 7 ' runs rm label:before run:2
expect 3 "label 'before'" runs rm before

# Nothing but ASCII where there is no UTF-8.
for what in "runs list" "runs show after" "compare after newkernel"; do
    LC_ALL=C "$BARSCOPE" $what | LC_ALL=C grep -n '[^ -~]' && { echo "FAIL: $what is not ASCII"; bad=1; }
done

# An empty file is a store without runs, like one that was emptied.
: >"$dir/empty.db"
expect 0 'there are no runs yet' runs list --store "$dir/empty.db"
expect 0 '"runs": \[\]' runs list --json --store "$dir/empty.db"
expect 0 "no run has the label 'nothing'" runs list --label nothing
expect 3 'holds no runs yet' runs show 1 --store "$dir/empty.db"
expect 3 'damaged' runs export 1 --store "$dir/cut.barscope" -o "$dir/x.barscope"

# Bad stores.
echo "not a store, but long enough to have a header of sorts, says the test, and more" >"$dir/junk.db"
expect 3 'not a barscope store' runs list --store "$dir/junk.db"
expect 3 'is not a file' runs list --store "$dir"
# Of a store that was not opened nothing is told.
printf '2600 22000 1600 250000\nagain\n' >"$dir/s"
out=$(env -u HOME -u XDG_DATA_HOME "$BARSCOPE" stress --script "$dir/s" --samples 1 --record x 2>&1)
[ $? -eq 3 ] && [ "$out" = "barscope: HOME is not set, so there is no place for the store; give --store FILE" ] || {
    echo "FAIL: a record without a HOME says: $out"
    bad=1
}
out=$("$BARSCOPE" stress --script "$dir/s" --samples 1 --record x --store "$dir/junk.db" 2>&1)
[ $? -eq 3 ] && ! grep -q 'noise floor' <<<"$out" || {
    echo "FAIL: a record into no store says: $out"
    bad=1
}
expect 0 'no earlier run of this configuration' stress --script "$dir/s" --samples 1 --record x --store "$dir/n.db"
exit $bad
