#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The screen's options and help as scripts see them: each wrong use is one sentence and status 3.
set -uo pipefail

barscope=$(realpath "${BARSCOPE:?the program to test}") || exit 3
export LC_ALL=C.UTF-8 NO_COLOR=1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# wrong SENTENCE ARGUMENTS...
wrong() {
    local sentence=$1 rc
    shift
    "$barscope" "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    rc=$?
    if [ $rc -ne 3 ] || [ -s "$tmp/out" ] || ! head -n 1 "$tmp/err" | grep -qFe "$sentence"; then
        failed=1
        echo "FAIL barscope $*: status $rc, expected 3 and '$sentence'"
        head -n 5 "$tmp/out" "$tmp/err"
    fi
}

echo "900000 1000 1000 1000" >"$tmp/s"
wrong "No such file" --script "$tmp/nosuch" --picture 1
wrong "script line" --script "$0" --picture 1
wrong "has no samples" --script /dev/null --picture 1
wrong "needs --script" --backend script --picture 1
wrong "not to 'cpu'" --backend cpu --script "$tmp/s" --picture 1
wrong "not to 'cpu'" --script "$tmp/s" --backend cpu --picture 1
wrong "no back end 'vulkan'" --backend vulkan --picture 1
wrong "contradict" --start --no-start --picture 1
wrong "contradict" --no-start --start
wrong "--size is given twice" --size 80x24 --size=80x24 --picture 1
wrong "'--pict' is no option of it" --pict 1
wrong "'-js' is no option of it" -js
wrong "'-js' is no option of it" --demo -js
wrong "--demo takes no value" --demo=1
wrong "--store needs a value" --store= --picture 1
wrong "--picture needs a value" --picture
wrong "not a terminal" --demo
wrong "'nosuch' is not a command" help nosuch
wrong "'nosuch' is not a command" nosuch
wrong "'more' is not a command" help plan more

"$barscope" help plan >"$tmp/a" && "$barscope" plan --help >"$tmp/b" && cmp -s "$tmp/a" "$tmp/b" || {
    failed=1
    echo "FAIL: 'help plan' is not 'plan --help'"
}

# What failed to run is in the picture, and the status tells it too.
echo "900000 1000 1000 1000 fail" >"$tmp/f"
"$barscope" --no-start --script "$tmp/s" --store "$tmp/store.db" --picture 1 >"$tmp/out" || {
    failed=1
    echo "FAIL: a picture of what works ends with $?"
}
"$barscope" --script "$tmp/f" --store "$tmp/store.db" --picture 2 >"$tmp/out" 2>"$tmp/err"
rc=$?
if [ $rc -ne 3 ] || [ ! -s "$tmp/out" ] || [ ! -s "$tmp/err" ]; then
    failed=1
    echo "FAIL: a picture of what failed ends with $rc"
    cat "$tmp/err"
fi

[ $failed = 0 ] && echo "all as expected"
exit $failed
