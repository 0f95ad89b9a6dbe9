# SPDX-License-Identifier: GPL-2.0-or-later
#
# tmux_lib.sh: what tests at a terminal share. To be sourced: it skips without tmux, makes $dir and
# a session's socket, and takes both away at the end. BARSCOPE: the program.
#
# How such a test stays right on a machine that is busy, where any two lines of it may lie seconds
# apart:
#   - what is waited for stays until the next key: no message that goes by itself, no figure that
#     only passes a value;
#   - it was not there before the key. Where it may have been, the key before is waited out first
#     (expect_gone), or the line of state is read (expect_state), not the whole screen;
#   - nothing is assumed of what comes first when two things come by themselves.

command -v tmux >/dev/null || { echo "tmux is not installed"; exit 77; }
: "${BARSCOPE:?}"

dir=$(mktemp -d)
sock=barscope-e2e-$$
failed=0
trap 'tmux -L "$sock" kill-server 2>/dev/null; rm -rf "$dir"' EXIT
export LC_ALL=C.UTF-8 TERM=screen

t() { tmux -L "$sock" "$@"; }
screen() { t capture-pane -p -t e; }
# The line above the hints: what runs.
state_line() { screen | tail -n 2 | head -n 1; }
keys() { t send-keys -t e "$@"; }
say() { echo "-- $*"; }
bad() {
    echo "FAILED: $*"
    screen | sed 's/^/    |/'
    failed=1
}
now_ms() { echo $(($(date +%s%N) / 1000000)); }

# session WxH: a shell in a pane
session() {
    t -f /dev/null new-session -d -s e -x "${1%x*}" -y "${1#*x}" 'bash --norc'
    t set-option -g status off
    expect 10000 '[$#]' 'a shell'
}

# until_true MS COMMAND...: runs it until it is true; false when it never was. LAST_MS says how long
# that took. MS is what an idle machine needs with ease; a busy one gets PATIENCE times as long.
until_true() {
    local start limit=$(($1 * ${PATIENCE:-10}))
    shift
    start=$(now_ms)
    while :; do
        "$@" && { LAST_MS=$(($(now_ms) - start)); return 0; }
        LAST_MS=$(($(now_ms) - start))
        [ "$LAST_MS" -lt $limit ] || return 1
        sleep 0.01
    done
}

# Not by a pipe: grep -q leaves early, and what is written then counts as failed.
shows() { grep -qE -- "$1" <<<"$(screen)"; }
state_shows() { grep -qE -- "$1" <<<"$(state_line)"; }
shows_no() { ! shows "$1"; }
state_shows_no() { ! state_shows "$1"; }

# wait_for MS PATTERN: true once the screen shows it.
wait_for() { until_true "$1" shows "$2"; }

expect() { # MS PATTERN WHAT
    wait_for "$1" "$2" || bad "$3: no '$2' within $LAST_MS ms"
}
expect_gone() { # MS PATTERN WHAT
    until_true "$1" shows_no "$2" || bad "$3: still '$2' after $LAST_MS ms"
}
# The same in the line of state alone.
expect_state() { # MS PATTERN WHAT
    until_true "$1" state_shows "$2" || bad "$3: the state is not '$2' within $LAST_MS ms"
}
expect_state_gone() { # MS PATTERN WHAT
    until_true "$1" state_shows_no "$2" || bad "$3: the state is still '$2' after $LAST_MS ms"
}

# The shell's prompt is back, STATUS was said, and the terminal is as it was.
same_terminal() { cmp -s "$dir/before" "$dir/after"; }
sane() { # STATUS WHAT
    expect 12000 "^status=$1\$" "$2"
    until_true 4000 same_terminal || bad "$2: the terminal's settings differ"
    ! shows '─ Latency' || bad "$2: the screen was not given back"
}
