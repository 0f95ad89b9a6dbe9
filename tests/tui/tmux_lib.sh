# SPDX-License-Identifier: GPL-2.0-or-later
#
# tmux_lib.sh: what tests at a terminal share. To be sourced: it skips without tmux, makes $dir and
# a session's socket, and takes both away at the end. BARSCOPE: the program.

command -v tmux >/dev/null || { echo "tmux is not installed"; exit 77; }
: "${BARSCOPE:?}"

dir=$(mktemp -d)
sock=barscope-e2e-$$
failed=0
trap 'tmux -L "$sock" kill-server 2>/dev/null; rm -rf "$dir"' EXIT
export LC_ALL=C.UTF-8 TERM=screen

t() { tmux -L "$sock" "$@"; }
screen() { t capture-pane -p -t e; }
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

# wait_for MS PATTERN: true once the screen shows it; LAST_MS says how long it took. MS is what an
# idle machine needs with ease; a busy one gets PATIENCE times as long.
wait_for() {
    local start end limit=$(($1 * ${PATIENCE:-10}))
    start=$(now_ms)
    while :; do
        screen | grep -qE -- "$2" && { LAST_MS=$(($(now_ms) - start)); return 0; }
        end=$(now_ms)
        [ $((end - start)) -lt $limit ] || { LAST_MS=$((end - start)); return 1; }
    done
}
expect() { # MS PATTERN WHAT
    wait_for "$1" "$2" || bad "$3: no '$2' within $1 ms"
}
