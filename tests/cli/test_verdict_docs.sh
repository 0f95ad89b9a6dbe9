#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Every verdict, answer and cause of the code is in docs/verdicts.md and in barscope-verdicts(7), and every evidence id in
# the latter.
set -uo pipefail

source=${BARSCOPE_SOURCE:?the source tree}
page=$source/docs/barscope-verdicts.7.scd
manual=$source/docs/verdicts.md
failed=0 n=0

has() { # FILE WORD
    n=$((n + 1))
    if ! grep -qE -- "(^|[^a-z0-9.-])$(printf '%s' "$2" | sed 's/[.]/\\./g')([^a-z0-9-]|\$)" "$1"; then
        failed=1
        echo "FAIL $(basename "$1") does not mention $2"
    fi
}

while read -r id answers; do
    for file in "$page" "$manual"; do
        has "$file" "$id"
        for answer in $answers; do
            has "$file" "$answer"
        done
    done
done < <(awk -F'"' '/^\t\.id = / { id = $2 } /^\t\.answers = / { print id, $2 }' "$source"/pcie/rule_*.c)

for cause in $(awk -F'"' '/\[PCIE_CAUSE_[A-Z_]*\] = / { print $2 }' "$source/pcie/cause.c"); do
    has "$page" "$cause"
    has "$manual" "$cause"
done
for id in $(grep -ohE '"[A-Z][0-9]{1,2}"' "$source"/pcie/rule_*.c | tr -d '"' | sort -u); do
    has "$page" "$id"
done
[ $n -gt 150 ] || { failed=1; echo "FAIL only $n words were looked for"; }
[ $failed -eq 0 ] && echo "$n words found"
exit $failed
