#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_html.sh MAKE_RUN [DIR]: the pages of "compare --html" for every rung of the ladder, with hostile
# names, and that they need nothing else. With DIR they stay there (test_html_chromium.sh looks at them).
set -u

make_run=$1
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
pages=${2:-$dir}
export BARSCOPE_ROOT=$dir/root XDG_DATA_HOME=$dir/data NO_COLOR=1
store=$dir/data/barscope/barscope.db
corpus=$BARSCOPE_SOURCE/tests/corpus
bad=0

fail() {
    echo "FAIL: $1"
    bad=1
}
boot() { # ID [KERNEL]
    mkdir -p "$dir/root/proc/sys/kernel/random"
    echo "$1" >"$dir/root/proc/sys/kernel/random/boot_id"
    echo "${2:-6.1.0-1}" >"$dir/root/proc/sys/kernel/osrelease"
}
page() { # NAME RC PATTERN ARGUMENTS...: makes NAME.html, which has a line like PATTERN
    local name=$1 rc=$2 pattern=$3 file=$pages/$1.html got
    shift 3
    "$BARSCOPE" compare "$@" --html "$file" >"$dir/out" 2>&1
    got=$?
    [ $got -eq "$rc" ] || fail "compare $*: status $got, wanted $rc: $(tail -n 1 "$dir/out")"
    [ -s "$file" ] || { fail "$name: no page"; return; }
    grep -qE -- "$pattern" "$file" || fail "$name: no line like '$pattern'"
    # One file that asks for nothing.
    grep -nE 'https?:|//[a-z]|<script|<iframe|<object|<img|@import|url\(| src=| on[a-z]+=' "$file" | cut -c 1-200 |
        grep . && fail "$name: something that could be loaded or run"
    [ "$(grep -c '<link' "$file")" -eq 1 ] || fail "$name: another link than the empty icon"
    grep -q "default-src 'none'" "$file" || fail "$name: no policy"
    # Each picture at both widths, with a name and a caption.
    [ "$(grep -c 'class="w640"' "$file")" -eq "$(grep -c 'class="w360"' "$file")" ] || fail "$name: widths"
    [ "$(grep -c '<figure>' "$file")" -eq "$(grep -c '<figcaption>' "$file")" ] || fail "$name: captions"
    grep -E 'nan|inf"|="-?inf' "$file" | grep -vE 'information|<td|<p' | cut -c 1-160 | grep . && fail "$name: a number that is none"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$file" 2>"$dir/lint" || fail "$name: $(head -n 2 "$dir/lint")"
    fi
}

for b in 1 2 3 4; do
    boot "a$b" && "$make_run" "$store" before sd=0.05 seed=$b machine="$corpus/091-rebar-off/machine.rec" || exit 99
    boot "b$b" && "$make_run" "$store" after sd=0.015 seed=1$b machine="$corpus/090-rebar-full/machine.rec" || exit 99
    boot "c$b" && "$make_run" "$store" again sd=0.05 seed=2$b || exit 99
    boot "k$b" 6.9.9-9 && "$make_run" "$store" kernel sd=0.05 seed=3$b || exit 99
done
nasty='<b>"x&amp;'"'"'</title>'
boot n1 && "$make_run" "$store" "$nasty" sd=0.3 p50=20000 seconds=2 || exit 99
boot n2 && "$make_run" "$store" constant sd=0 p50=20000 seconds=2 || exit 99
boot n3 && "$make_run" "$store" lost sd=0.02 machine="$corpus/095-wiped-no-aperture/machine.rec" || exit 99

# Two GPUs on other buses: the second one got worse.
for b in 1 2 3 4 5; do
    for g in 1 2; do
        boot "g$b" && "$make_run" "$store" two sd=0.05 seed=$b device="G at 0000:0$g:00.0" || exit 99
        boot "h$b" && "$make_run" "$store" moved sd=0.0$((g * g * 2)) seed=1$b device="G at 0000:0$((g + 2)):00.0" || exit 99
    done
done
page devices 1 'B is less steady with 1x4096x11008 on G at 0000:02:00.0: its spread is 1\.[5-7]' two moved
grep -q 'The pair that decides, of 2: cpu G at 0000:02:00.0, now G at 0000:04:00.0' "$pages/devices.html" ||
    fail "the page is of another pair than its sentence"
grep -qE 'Spread ratio B to A 1\.[5-7]' "$pages/devices.html" || fail "the page has another pair's ratio"
grep -qE '>device</td><td class="t">G at 0000:01:00.0</td><td class="t">G at 0000:03:00.0</td><td>no' "$pages/devices.html" ||
    fail "a GPU that moved is not said"
page better 0 'class="verdict better"><b>Better</b>B is steadier' before after
page worse 1 'class="verdict worse"' after before
page same 0 'No difference shown' before again
page description 2 'class="verdict description"' 1 after
page incomparable 2 'kernel \(6.1.0-1 against 6.9.9-9\)' before kernel
page nasty 2 '&lt;b&gt;&quot;x&amp;amp;&#39;&lt;/title&gt;' "label:$nasty" constant
page lost 2 'class="verdict description"' lost 1

# The ladder: passed rungs, then the one where it ends.
rungs() { grep -oE '<li class="[a-z]+"' "$pages/$1.html" | sed 's/.*"\(.*\)"/\1/' | tr '\n' ' '; }
[ "$(rungs better)" = 'passed passed passed reached ' ] || fail "ladder of better: $(rungs better)"
[ "$(rungs same)" = 'passed passed here open ' ] || fail "ladder of same: $(rungs same)"
[ "$(rungs description)" = 'passed here open open ' ] || fail "ladder of description: $(rungs description)"
[ "$(rungs incomparable)" = 'here open open open ' ] || fail "ladder of incomparable: $(rungs incomparable)"
# The machines: the BAR before and after, in map and table.
grep -q '16 GiB at 0x4000000000' "$pages/better.html" || fail 'no BAR in the table'
grep -q '<title>01:00.0 BAR 0, 256 MiB at 0x4000000000</title>' "$pages/better.html" || fail 'no BAR of A in the map'
grep -q '<title>01:00.0 BAR 0, 16 GiB at 0x4000000000</title>' "$pages/better.html" || fail 'no BAR of B in the map'
[ "$(grep -c 'class="lost"' "$pages/lost.html")" -eq 4 ] || fail 'two BARs without an address, at two widths'
grep -q 'Not known: [^<]* kept no machine' "$pages/same.html" || fail 'same: what is not known of the machines'
# A bundle draws what the store draws.
"$BARSCOPE" runs export before -o "$dir/before.barscope" 2>/dev/null || fail export
page bundle 0 'class="verdict better"' "$dir/before.barscope" after
a=$(sed -n '/<h3>Over time/,/<\/figure>/p' "$pages/better.html" | md5sum)
b=$(sed -n '/<h3>Over time/,/<\/figure>/p' "$pages/bundle.html" | md5sum)
[ "$a" = "$b" ] || fail 'the bundle is drawn otherwise'

# Bad places.
"$BARSCOPE" compare before after --html "$dir/none/x.html" >/dev/null 2>"$dir/err"
[ $? -eq 3 ] && grep -q 'none/x.html' "$dir/err" || fail "a folder that is not there: $(cat "$dir/err")"
"$BARSCOPE" compare before after --html '' >/dev/null 2>&1
[ $? -eq 3 ] || fail 'no name'
exit $bad
