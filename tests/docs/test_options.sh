#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What the documents and --help say of commands and options is one thing: every "barscope COMMAND
# --option" of a document is an option of that command, and every option of a --help is in barscope(1).
set -uo pipefail

barscope=$(realpath "${BARSCOPE:?the program to test}") || exit 3
cd "${BARSCOPE_SOURCE:?the source tree}" || exit 3
failed=0
checked=0
declare -A help

commands=$("$barscope" --help | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
for c in $commands; do
    help[$c]=$("$barscope" "$c" --help </dev/null) || { echo "FAIL $c --help"; exit 1; }
done
help[stress]+=" $("$barscope" --help)"

has_option() { grep -qE -- "(^|[^a-z-])$2([^a-z-]|\$)" <<<"$1"; }

# Documents to help. Code spans and blocks hold the commands; "-- …" hands on to the stress.
while read -r file command rest; do
    if [ -z "${help[$command]+x}" ]; then
        echo "FAIL $file: there is no command '$command'"
        failed=1
        continue
    fi
    for option in $(grep -oE -- '(^| |\[)--[a-z][a-z-]*' <<<"${rest%% -- *}" | tr -d ' ['); do
        checked=$((checked + 1))
        has_option "${help[$command]}" "$option" ||
            { echo "FAIL $file: 'barscope $command' has no $option"; failed=1; }
    done
done < <(
    for f in README.md docs/tutorial.md docs/bios.md docs/symptoms.md docs/verdicts.md docs/BENCHMARKS.md; do
        { grep -oE '`[^`]*`' "$f" | tr -d '`'; awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$f"; } |
            grep -oE '(^|[ /])barscope [a-z]+( [^|#]*)?' | sed "s|^[ /]*barscope|$f|"
    done
)

# Help to barscope(1).
page=$(sed 's/\\//g; s/[*_]//g' docs/barscope.1.scd)
for c in $commands; do
    for option in $(grep -oE -- '--[a-z][a-z-]+' <<<"${help[$c]}" | sort -u); do
        checked=$((checked + 1))
        has_option "$page" "$option" || { echo "FAIL barscope(1) does not know $option of $c"; failed=1; }
    done
done
[ $checked -gt 100 ] || { echo "FAIL only $checked options were found"; failed=1; }
[ $failed = 0 ] && echo "$checked options found"
exit $failed
