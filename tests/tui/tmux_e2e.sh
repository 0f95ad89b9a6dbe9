#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# tmux_e2e.sh: a person at a terminal. Types into barscope in a tmux session and reads the
# screen: the plot moves, keys react while the worker is stopped and while the store's disk is
# slow, a killed worker is said, sizes change, and the terminal is sane afterwards.
#
# BARSCOPE: the program; SLOW_SYNC: the module that slows a disk down.
set -uo pipefail

: "${SLOW_SYNC:?}"
. "$(dirname "$0")/tmux_lib.sh"

# Eleven presses of ?: the key is answered whatever else goes on. How fast is said, not judged: that
# is what "meson test --benchmark key-latency" measures.
react() { # WHAT
    local times=()
    for _ in 1 2 3 4 5 6 7 8 9 10 11; do
        keys '?'
        wait_for 3000 '─ Help ─' || { bad "$1: the help did not open"; return; }
        times+=("$LAST_MS")
        keys '?'
        wait_for 3000 '─ Latency' || { bad "$1: the help did not close"; return; }
    done
    mapfile -t times < <(printf '%s\n' "${times[@]}" | sort -n)
    say "$1: key to screen, median ${times[5]} ms, worst ${times[10]} ms, with tmux's look"
}

# What stands on the terminal, brought there change by change, is what a complete redraw puts there.
# KEYS (or resize=WxH) bring it there, once more for each try: what moved by itself between the two
# looks does so once, what is drawn wrongly each time. Marks beside our back show that the redraw
# came.
whole() { # WHAT KEYS...
    local before k tty try
    tty=$(t display-message -p -t e '#{pane_tty}')
    for try in 1 2 3; do
        for k in "${@:2}"; do
            if [ "${k%%=*}" = resize ]; then resize "${k#*=}"; else keys "$k"; fi
        done
        still || continue
        before=$(screen)
        printf '\0337\033[1;1H@@@@\033[5;9H@@@@\0338' >"$tty"
        until_true 1000 shows '@@@@' || continue
        keys C-l
        until_true 500 same_screen "$before" && return
    done
    bad "$1: the screen differs from a complete redraw ($try tries)"
    diff <(echo "$before") <(screen) | sed 's/^/    /'
}
same_screen() { [ "$(screen)" = "$1" ]; }
# Figures and axis have settled: nothing has moved for a while.
still() { until_true 3000 stands; }
stands() {
    local one
    one=$(screen)
    for _ in 1 2 3 4; do
        sleep 0.2
        same_screen "$one" || return 1
    done
}
resize() { t resize-window -t e -x "${1%x*}" -y "${1#*x}"; }

# The pids of the front and its worker; fail rather than hit another process.
worker() { pgrep -P "$(front)" -f -- '--worker' | head -1; }
front() { pgrep -P "$(t list-panes -t e -F '#{pane_pid}')" -x barscope | head -1; }
hit() { # SIGNAL worker|front
    local pid
    pid=$("$2")
    [ -n "$pid" ] && kill "-$1" "$pid" || bad "there is no $2 to send $1 to"
}

script() {
    awk 'BEGIN { srand(7); for (i = 0; i < 4000; i++) {
        d = 900000 + 9000 * sin(i / 40) + 6000 * rand(); if (i % 200 == 99) d += 200000
        printf "5000 %d 2000 4000000\n", d } print "again" }' >"$dir/s"
}

run() { # ARGS: barscope under the pane's shell; what stty says before and after is kept
    rm -f "$dir/after"
    keys "stty -g >$dir/before; clear; $* $BARSCOPE --no-start --script $dir/s --store $dir/store.db; echo status=\$?; stty -g >$dir/after" Enter
}

script
session 100x30

say 'start: nothing runs until the key'
run
expect_state 3000 'not started' 'the first screen'
expect 3000 'BAR [0-9]|No GPU|No PCI device' 'the machine'
whole 'the first screen' 2 1
keys s
expect_state 3000 'running' 'start'
expect 3000 'p50 +9' 'figures'

say 'the plot moves'
latency() { screen | sed -n '/Latency/,/Histogram/p'; }
one=$(latency)
other_latency() { [ "$(latency)" != "$one" ]; }
until_true 3000 other_latency || bad 'the plot stands still'
react 'running'

say 'the worker stopped by SIGSTOP'
hit STOP worker
expect_state 2500 'stalled: no sign of the worker' 'a stall'
say "the stall was said after $LAST_MS ms"
react 'worker stopped'
hit CONT worker
expect_state 2500 'running' 'the worker goes on'

say 'pause'
keys p
expect_state 1500 'paused' 'pause'
whole 'paused' 2 1
keys '?'
expect 1500 '─ Help ─' 'the help'
whole 'help' '?' '?'
keys '?'
expect 1500 '─ Latency' 'the help closed'
for size in 120x44 90x30 100x50 100x30; do
    whole "paused at $size" resize=70x20 "resize=$size"
done
keys p
expect_state 1500 'running' 'going on'

say 'the worker killed'
hit KILL worker
expect_state 1000 'signal 9' 'the death'
say "the death was said after $LAST_MS ms"
react 'worker dead'
keys s
expect_state 3000 'running' 'another worker'

say 'the baseline'
expect 5000 ' n +[1-9][0-9]{2}' 'samples'
keys b
expect 1000 'baseline p50' 'the legend'
keys 6
expect 4000 'marked .*, stored' 'the baseline in the store'

say 'every view and every key'
walk() { # KEY PATTERN: a view opens
    keys "$1"
    expect 2000 "$2" "view $1"
}
walk 2 '─ Machine ─'
keys Down Up PageDown Home End G g J K / b Enter n N
walk 3 '─ Address map ─'
keys Down Enter Down Escape
walk 4 '─ Verdicts ─'
keys Down Enter J K '>' '<' Enter
walk 5 '─ Layers ─'
keys Left Left
expect_state 1500 'picture frozen' 'freezing by the cursor'
keys Right PageUp PageDown End L L L L + + - l l f f
expect_state_gone 1500 'picture frozen' 'the picture goes on'
keys Enter
expect 1500 '─ Episodes' 'the slow episodes'
expect 20000 'associated with|unexplained' 'what stands beside them'
keys Down Down
expect_state 1500 'picture frozen' 'an episode moves the plot'
keys Escape
expect 1500 '─ Layers ─' 'the episodes closed'
walk 6 '─ Compare ─'
keys Down Up
walk 7 '─ Runs ─'
walk 8 '─ Doctor ─'
expect 20000 'HOME' 'the doctor'
keys Down Enter Enter
keys Tab
expect 1500 '─ Devices ─' 'Tab goes round'
keys BTab
expect 1500 '─ Doctor ─' 'Shift-Tab goes back'
keys 1 h
expect 1500 '─ Help ─' 'h is the help too'
keys Down PageDown Up Escape Space
expect_state 1500 'paused' 'space pauses'
keys Space
expect_state 1500 'running' 'and goes on'

say 'a run is recorded, labelled and compared'
keys R
expect 1500 '─ Record ─' 'the label is asked for'
keys one Enter
expect_state 3000 "recording 'one'" 'recording'
# Any time from three seconds on: when we look is not ours to say.
expect_state 20000 "recording 'one' (0:0[3-9]|0:[1-9]|[1-9])" 'some seconds of it'
keys R
expect_state_gone 3000 'recording' 'the end of the recording'
keys 7
expect 5000 '^▸ +1 one .* stopped ' 'the run in the list'
keys l
expect 1500 '─ Label ─' 'the label is asked for'
keys Tab 2 Enter
expect 5000 '^▸ +1 one2 ' 'the new label'
keys d
expect 1500 'Remove run' 'a question before removing'
keys x
expect_gone 1500 'Remove run' 'no other key than y is a yes'
keys b
expect 3000 'label:one2 +now' 'the run beside what runs now'
keys Escape
expect 3000 'baseline +now' 'the baseline again'
keys 7
expect 1500 '─ Runs ─' 'back to the runs'
keys e
expect 1500 '─ What runs ─' 'the form'
keys Escape
expect_gone 1500 '─ What runs ─' 'the form closed'
keys y
expect 2000 'Enter: back to the screen' 'plain text'
keys Enter
expect_gone 2000 'Enter: back to the screen' 'back from plain text'
expect 2000 '─ Runs ─' 'back from plain text'
keys 1
expect 1500 '─ Devices ─' 'back to the overview'

say 'sizes'
for _ in $(seq "${RESIZES:-500}"); do
    keys "$((RANDOM % 8 + 1))"
    resize "$((RANDOM % 180 + 20))x$((RANDOM % 60 + 8))"
done
keys 1
for size in 40x12 200x50 39x11 80x24 61x17 140x20 40x60; do
    resize "$size"
    if [ "$size" = 39x11 ]; then
        expect 1500 'needs 40 x 12' 'too small'
    else
        expect 1500 '─ Devices' "a screen of $size"
    fi
done
keys p
expect_state 3000 'paused' 'pause after resizing'
whole 'after resizing' resize=40x60 resize=100x30
keys p
expect_state 3000 'running' 'going on after resizing'

say 'suspend and resume'
pid=$(front)
keys C-z
expect 2500 'Stopped' 'suspend'
! shows '─ Latency' || bad 'suspended, but still on the screen'
[ "$(ps -o stat= -p "$pid" | cut -c1)" = T ] || bad 'not stopped'
keys "clear; fg; echo status=\$?; stty -g >$dir/after" Enter
expect 2500 '─ Latency' 'resume'
expect_state 2500 'running' 'resume'
keys q
sane 0 'quit'

say 'the baseline of before, and a study'
"$BARSCOPE" study new e2e --change 'the BIOS' --restarts 1 --warmup 0 --store "$dir/store.db" \
    -- --script "$dir/s" --seconds 1 >/dev/null || bad 'a study'
run
expect 4000 'baseline p50 9' 'the baseline comes back by itself'
expect_state 10000 'study e2e: 0 of 8 boots, S' 'the study, once what changed was said'
keys 6
expect 4000 'What changed in between' 'the baseline and now'
expect 4000 '^ (Nothing that is known to matter|▲ )' 'what changed'
keys S
expect 1500 '─ Study e2e' 'its next step'
keys n
expect_gone 1500 '─ Study e2e' 'not now'

say 'the next step leaves the screen'
keys S
expect 1500 '─ Study e2e' 'its next step'
keys y
expect 5000 '^barscope study run e2e --side A' 'the study is run, for the side that the plan says'
expect 60000 '^this boot is filed as A: measured' 'the boot is measured'
expect 20000 '^status=0$' 'and filed'

say 'SIGTERM'
run
expect_state 3000 'not started' 'start'
hit TERM front
sane 143 'SIGTERM'

say 'a crash'
run
expect_state 3000 'not started' 'start'
hit SEGV front
sane 139 'SIGSEGV'

say 'Ctrl-C'
run
expect_state 3000 'not started' 'start'
keys C-c
sane 130 'Ctrl-C'

say 'a machine that went down during a run'
mkdir -p "$dir/root/proc/sys/kernel/random"
echo 11111111-2222-3333-4444-555555555555 >"$dir/root/proc/sys/kernel/random/boot_id"
BARSCOPE_ROOT=$dir/root "$BARSCOPE" stress --script "$dir/s" --seconds 6000 --record down \
    --store "$dir/down.db" >"$dir/out" 2>&1 &
recording=$!
is_recorded() { grep -q down <<<"$("$BARSCOPE" runs list --store "$dir/down.db" 2>/dev/null)"; }
until_true 10000 is_recorded || bad 'the run did not come into the store'
kill -KILL $recording
wait $recording 2>/dev/null
keys "clear; $BARSCOPE --no-start --script $dir/s --store $dir/down.db; echo status=\$?" Enter
expect 4000 '─ The machine went down' 'the crash is said first'
keys Enter
expect_gone 1500 '─ The machine went down' 'and read'
keys 7
expect 4000 'machine-down' 'the run that it ended'
keys q
expect 4000 '^status=0$' 'quit'

if nm -D "$BARSCOPE" 2>/dev/null | grep -q '__asan_init'; then
    say 'skipped: the slow disk (a preloaded module does not go with AddressSanitizer)'
else
    # As slow as we like: syncs last as long as the file is there.
    say 'a disk on which a sync does not end'
    hold=$dir/hold
    run "SLOW_SYNC_WHILE=$hold LD_PRELOAD=$SLOW_SYNC"
    expect_state 3000 'not started' 'start'
    keys s
    expect_state 3000 'running' 'start'
    expect 5000 ' n +[1-9][0-9]{2}' 'samples'
    touch "$hold"
    keys b
    expect_state 6000 'the store is slow' 'a slow store'
    react 'slow disk'
    expect_state 1000 'the store is slow' 'it is slow still'
    rm "$hold"
    expect_state_gone 6000 'the store is slow' 'the store again'
    keys 6
    expect 4000 'marked .*, stored' 'what waited is stored'
    touch "$hold"
    keys b 1
    expect_state 6000 'the store is slow' 'a slow store'
    keys q
    expect 12000 '^status=0$' 'quit on a slow disk'
fi

[ $failed = 0 ] && say 'all as it should be'
exit $failed
