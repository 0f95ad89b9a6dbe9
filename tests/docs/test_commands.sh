#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs every command that the tutorial and the BIOS page show, in order, in a home of its own. A command
# may end with any status of the contract but 3 (usage, unreadable input, store error).
set -uo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/bin" "$dir/home" "$dir/data"
ln -s "$BARSCOPE" "$dir/bin/barscope"
export PATH=$dir/bin:$PATH HOME=$dir/home XDG_DATA_HOME=$dir/data
cd "$dir" || exit 1
failed=0
ran=0

for page in "$BARSCOPE_SOURCE/docs/tutorial.md" "$BARSCOPE_SOURCE/docs/bios.md"; do
    while IFS= read -r command; do
        ran=$((ran + 1))
        out=$(timeout 60 bash -c "$command" 2>&1)
        rc=$?
        case $rc in
        0 | 1 | 2 | 4) echo "ok $rc: $command" ;;
        *)
            echo "FAIL $rc: $command"
            echo "$out" | tail -n 5
            failed=1
            ;;
        esac
    done < <(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$page")
done
[ "$ran" -ge 10 ] || { echo "FAIL: only $ran commands were found"; failed=1; }
exit $failed
