#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# Runs every command that the tutorial, the pages on BIOS and symptoms and the README show, in order, in a
# home of its own; scripts/ has tests of its own. A command may end with any status of the contract
# but 3 (usage, unreadable input, store error).
set -uo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mkdir -p "$dir/bin" "$dir/home" "$dir/data"
ln -s "$BARSCOPE" "$dir/bin/barscope"
export PATH=$dir/bin:$PATH HOME=$dir/home XDG_DATA_HOME=$dir/data
cd "$dir" || exit 1
failed=0
ran=0

cp "$BARSCOPE_SOURCE/tests/corpus/029-mail-quoted/"input.* forum-post.txt
for page in docs/tutorial.md docs/bios.md docs/symptoms.md README.md; do
    while IFS= read -r command; do
        [[ $command == scripts/* ]] && continue
        tool=${command%% *}
        command -v "$tool" >/dev/null || { echo "skipped, no $tool: $command"; continue; }
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
    done < <(awk '/^```sh$/ { on = 1; next } /^```$/ { on = 0 } on' "$BARSCOPE_SOURCE/$page")
done
[ "$ran" -ge 15 ] || { echo "FAIL: only $ran commands were found"; failed=1; }
# Every symptom has its part in the page.
for word in $(barscope doctor --symptom list | awk '{ print $1 }'); do
    grep -q "^## $word: " "$BARSCOPE_SOURCE/docs/symptoms.md" || { echo "FAIL: symptoms.md lacks $word"; failed=1; }
done
exit $failed
