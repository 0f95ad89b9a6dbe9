#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# The doctor as its user meets it: forms of its output, exit statuses, a root without /sys and a real
# chroot without it, plain characters, where services and root would look.
set -uo pipefail

barscope=$(realpath "${BARSCOPE:?the program to test}") || exit 3
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
mkdir -p "$tmp/home" "$tmp/data"
export HOME=$tmp/home XDG_DATA_HOME=$tmp/data LC_ALL=C.UTF-8 NO_COLOR=1
unset BUILD_DIR TMPDIR XDG_CACHE_HOME CUDA_CACHE_PATH CUDA_CACHE_DISABLE

ends() { # STATUS ARGUMENTS...: "any" is 0, 1 or 2, which this machine decides
    local want=$1
    shift
    "$barscope" doctor "$@" >"$tmp/out" 2>"$tmp/err" </dev/null
    local rc=$?
    case $want:$rc in
    any:[012]) ;;
    *) [ "$want" = $rc ] || fail "doctor $*: ends with $rc, expected $want: $(head -n 3 "$tmp/err")" ;;
    esac
}
fail() {
    echo "FAIL $*"
    failed=1
}
says() { grep -q -- "$2" "$tmp/$1" || fail "standard $1 does not say '$2': $(head -n 20 "$tmp/$1")"; }
never() { ! grep -q -- "$2" "$tmp/$1" || fail "standard $1 says '$2': $(grep -- "$2" "$tmp/$1" | head -n 3)"; }

# Usage: one sentence, status 3, nothing on standard output.
for bad in "--json --fix-script" "--with x" "--shape 4x" "--symptom" "--build-dir=" "extra" "--nosuch"; do
    # shellcheck disable=SC2086
    ends 3 $bad
    [ "$(grep -c . "$tmp/err")" -le 2 ] && [ ! -s "$tmp/out" ] || fail "more than a sentence: doctor $bad"
done
ends 3 --symptom no-such-word
says err time-wobbles
ends 0 --symptom list
says out time-wobbles
ends 3 --symptom precision --with "$tmp/none"
says err "none"

# Its forms.
ends any --quick
says out '^environment$'
says out ' fine\.$'
ends any --quick --json
python3 - "$tmp/out" <<'END' || fail "no JSON of the schema"
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "barscope.doctor/1"
assert all({"id", "group", "result", "tested", "evidence"} <= l.keys() for l in d["lines"])
assert {l["result"] for l in d["lines"]} <= {"ok", "note", "unseen", "fault"}
assert all(l.get("fix") for l in d["lines"] if l["result"] == "fault"), "a fault without a fix"
END
ends any --quick --fix-script
head -n 1 "$tmp/out" | grep -q '^#!/bin/sh$' && sh -n "$tmp/out" || fail "no script"
LC_ALL=C ends any
never out '[^ -~	]'
ends any --ascii
LC_ALL=C never out '[^ -~	]'
# Within 80 columns, but for commands to copy and for paths, which have no place to be cut at.
[ "$(awk 'length($0) > 80 && !/^ *\$ / && !/^ *# / && !/\//' "$tmp/out" | wc -l)" = 0 ] || fail "a line is longer than 80"

# A planted fault by a person's own words, and its sign in a log.
mkdir -p "$tmp/my build"
printf 'make: ok\nld: no sandbox or build area path\n' >"$tmp/log"
ends 1 --symptom sandbox --with "$tmp/log" --build-dir "$tmp/my build" --quick
says out 'line 2: ld: no sandbox'
says out 'BUILD_DIR has a blank'
says out '^     \$ export BUILD_DIR='
never out 'clocks and power'

# Where a service would look: only with a file that its manager reads.
root=$tmp/root
mkdir -p "$root/proc" "$root/run/systemd/system" "$root/etc/environment.d"
echo 'Linux version 6.1.0' >"$root/proc/version"
export BARSCOPE_ROOT=$root
ends any --quick --json
says out 'A service would use other folders'
echo "XDG_DATA_HOME=$tmp/data" >"$root/etc/environment.d/50.conf"
ends any --quick --json
says out 'A service of this user finds the same folders'

# No /sys below this root: what could not be seen is said, and the status is 2.
rm -rf "$root/sys"
ends any --quick
says out 'The PCI devices could not be read'
says out 'Which GPUs there are could not be seen'
says out 'Whether the cores are free could not be seen'
says out 'not seen'
unset BARSCOPE_ROOT

# The same in a real chroot with the libraries of this program and nothing else; the folders that
# must survive a reboot cannot be told from a container's, so only that line may be a fault there.
jail=$tmp/jail
mkdir -p "$jail/bin" "$jail/tmp" "$jail/home"
cp "$barscope" "$jail/bin/barscope"
ldd "$barscope" | grep -o '/[^ ]*' | while read -r lib; do
    mkdir -p "$jail$(dirname "$lib")" && cp -L "$lib" "$jail$lib"
done
if [ "$(id -u)" = 0 ]; then
    enter=(chroot)
else
    enter=(unshare --map-root-user chroot)
fi
if "${enter[@]}" "$jail" /bin/barscope --version >/dev/null 2>&1; then
    HOME=/home XDG_DATA_HOME=/home/data "${enter[@]}" "$jail" /bin/barscope doctor --quick --json \
        >"$tmp/out" 2>"$tmp/err"
    rc=$?
    python3 - "$tmp/out" "$rc" <<'END' || fail "the chroot: status $rc, $(cat "$tmp/err")"
import json, sys
lines = json.load(open(sys.argv[1]))["lines"]
faults = [l["id"] for l in lines if l["result"] == "fault" and l["id"] != "env.data"]
unseen = [l["id"] for l in lines if l["result"] == "unseen"]
assert faults == [], faults
assert {"env.proc", "driver", "pcie", "clocks.neighbours"} <= set(unseen), unseen
volatile = any(l["id"] == "env.data" and l["result"] == "fault" for l in lines)
assert int(sys.argv[2]) == (1 if volatile else 2)
END
else
    echo "skipped: neither root nor user namespaces: no chroot"
fi
exit $failed
