#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# scripts/test-summary counts what it is shown, and never takes a run that was cut short for a good one.
set -uo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bad=0
expect() { # STATUS-OF-MESON LAST-LINE WHAT
    local got
    got=$("$BARSCOPE_SOURCE/scripts/test-summary" suite "$work/log" "$1" | tail -n 1)
    if [ "$got" != "$2" ]; then
        echo "$3: '$got', not '$2'"
        bad=1
    fi
}
row() { # NAME RESULT
    printf '{"name": "barscope:unit / %s", "result": "%s", "stdout": "", "stderr": ""}\n' "$1" "$2"
}

{ row one OK; row two SKIP; row three OK; } >"$work/log"
expect 0 '2 0 1' 'a good run'
expect 1 '2 1 1' 'meson ended early, and all that it logged is good'
{ row one OK; row two FAIL; row three TIMEOUT; } >"$work/log"
expect 2 '1 2 0' 'two failures'
{ row one OK; row two OK | head -c 20; } >"$work/log"
expect 0 '1 1 0' 'a log that is cut off'
rm "$work/log"
expect 0 '0 1 0' 'no log'
exit $bad
