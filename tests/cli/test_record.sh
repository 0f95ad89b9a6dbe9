#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_record.sh CHECK_STORE: recording while everything breaks. kill -9 of the front, of the
# worker, or of both at random moments (BARSCOPE_KILLS of them, else 20): the store opens, its
# check passes, and it lacks at most the last two seconds. A full disk ends the run with a
# sentence and keeps what was there.
set -u

check=$1
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME=$dir/data
bad=0
fail() {
    echo "FAIL: $*"
    bad=1
}

printf '2600 22000 1600 250000 repeat=1000\n2700 23000 1600 260000 repeat=1000\nagain\n' >"$dir/s"
stress() { # STORE SECONDS
    exec "$BARSCOPE" stress --backend script --script "$dir/s" --seconds "$2" --record kill \
        --store "$1" >"$dir/out" 2>&1
}
now() {
    date +%s%N
}

RANDOM=20240607
kills=${BARSCOPE_KILLS:-20}
lost=0
for ((i = 1; i <= kills; i++)); do
    store=$dir/k$i.db
    stress "$store" 60 &
    front=$!
    # From the first moment on, mostly within the first seconds.
    ms=$((RANDOM % 10 < 3 ? RANDOM % 300 : 300 + RANDOM % 3200))
    before=$(now)
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    worker=$(pgrep -P $front 2>/dev/null | head -n 1)
    case $((i % 3)) in
    0) victims="$front" ;;
    1) victims="$front $worker" ;;
    2) victims=${worker:-$front} ;;
    esac
    killed=$(now)
    # shellcheck disable=SC2086
    kill -9 $victims 2>/dev/null
    wait $front 2>/dev/null
    [ -e "$store" ] || continue # before it was made
    if ! line=$("$check" "$store" 2>&1); then
        # The file was there, the first transaction was not.
        [ "$line" = "$store holds no runs yet" ] || fail "kill $i after $ms ms: $line"
        continue
    fi
    [ -n "$line" ] || continue
    read -r _ state touched seconds _ <<<"$line"
    if [ "$victims" = "$worker" ]; then
        [ "$state" = failed ] || fail "kill $i: worker killed, the run is '$state'"
        continue
    fi
    [ "$state" = running ] || fail "kill $i: the run is '$state'"
    "$BARSCOPE" runs list --store "$store" | grep -q ' died ' || fail "kill $i: not shown as died"
    # Seconds from the run's start to the kill: what is stored lacks at most two of them.
    start=$("$BARSCOPE" runs list --json --store "$store" | sed -n 's/.*"started": \([0-9]*\).*/\1/p')
    missing=$(((killed - start) / 1000000 - seconds * 1000))
    [ $missing -gt $lost ] && lost=$missing
    # A machine on which we come late ourselves lets the recorder come late too.
    late=$(((killed - before) / 1000000 - ms))
    [ $missing -le $((2000 + 10 * late)) ] || fail "kill $i after $ms ms: $missing ms are missing ($line)"
    # The next run closes it, and works.
    if [ $((i % 10)) -eq 0 ]; then
        (stress "$store" 1) || fail "the run after kill $i failed: $(cat "$dir/out")"
        "$check" "$store" | grep -q '^1 died ' || fail "kill $i: not closed"
    fi
done
echo "$kills kills, at most $lost ms of a run were missing"

# A disk that fills up during the run; in a mount namespace, so only for root.
mkdir "$dir/small"
awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++)
    printf "%d %d %d 2500000\n", 2500 + rand() * 900, 20000 + rand() * 9000, 1500 + rand() * 500
    print "again" }' >"$dir/noisy"
if unshare -m true 2>/dev/null && [ "$(id -u)" -eq 0 ]; then
    unshare -m bash -c "
        mount -t tmpfs -o size=1400k tmpfs '$dir/small' || exit 77
        '$BARSCOPE' stress --backend script --script '$dir/noisy' --speed max --seconds 20000 \
            --record full --store '$dir/small/s.db' >'$dir/out' 2>&1
        echo \$? >'$dir/rc'
        '$check' '$dir/small/s.db' >'$dir/checked' 2>&1" || echo "no tmpfs here"
    [ "$(cat "$dir/rc")" = 3 ] || fail "full disk: exit status $(cat "$dir/rc"): $(cat "$dir/out")"
    grep -q 'the disk that holds .* is full; what was recorded before is kept' "$dir/out" ||
        fail "full disk: no sentence: $(cat "$dir/out")"
    grep -qE '^recorded +run 1, until [0-9]{2}:[0-9]{2}:[0-9]{2} only: the disk' "$dir/out" ||
        fail "full disk: the summary says: $(grep recorded "$dir/out")"
    grep -q 'lies on tmpfs, which lives in memory' "$dir/out" || fail "no warning of tmpfs"
    read -r _ state _ seconds _ <"$dir/checked"
    [ "$state" = stopped ] && [ "$seconds" -gt 100 ] || fail "full disk: $(cat "$dir/checked")"
else
    echo "no right to mount: the full disk was not tried"
fi
exit $bad
