#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# hotplug_e2e.sh: a mocked machine under a real terminal. A GPU comes and goes with its uevents, a
# BAR and a link change with none: each is seen in the list and said in the lane of events. On a GPU
# that somebody else uses nothing starts by itself.
#
# BARSCOPE: the program; PLUG: the program that mocks the machine (umockdev); FAKES: the folder of
# libraries that pretend to be NVIDIA's.
set -uo pipefail

: "${PLUG:?}" "${FAKES:?}"
. "$(dirname "$0")/tmux_lib.sh"
if nm -D "$BARSCOPE" 2>/dev/null | grep -q '__asan_init'; then
    echo "a preloaded module does not go with AddressSanitizer"
    exit 77
fi

order() { echo "$1" >"$dir/orders"; }

mkfifo "$dir/orders"
echo "900000 5000 2000 4000000
again" >"$dir/s"
session 200x40
keys "stty -g >$dir/before; clear; umockdev-wrapper $PLUG $dir/orders $BARSCOPE --script $dir/s --store $dir/store.db; echo status=\$?; stty -g >$dir/after" Enter
expect 3000 '41:00.0' 'the GPU of the mocked machine'
expect 3000 '1 GPU, ' 'one GPU'
expect_state 3000 'running' 'the stress runs beside it'

say 'a GPU is plugged in'
order plug
expect 3000 '42:00.0' 'the new GPU in the list'
expect 1000 '2 GPUs' 'both counted'
keys 5
expect 1000 '─ Events' 'the events'
expect 1000 '42:00.0.*(new|added|appeared|is there)' 'the new GPU in the lane'

say 'a BAR grows, and no uevent tells of it'
order resize
expect 3000 '41:00.0 BAR 0 256 MiB.*16 GiB' 'the BAR in the lane'

say 'a link narrows'
order narrow
expect 3000 '41:00.0 link.*x16.*x8' 'the link in the lane'

say 'the GPU is unplugged'
order unplug
expect 3000 '42:00.0.*(gone|removed)' 'its going in the lane'
keys 1
expect 3000 '1 GPU, ' 'one GPU again'
keys q
sane 0 'quit'

say 'a GPU that somebody else uses is left alone, a free one is not'
fakes="LD_LIBRARY_PATH=$FAKES"
keys "clear; $fakes FAKE_NVML=processes=2 umockdev-wrapper $PLUG $dir/orders $BARSCOPE --store $dir/store.db; echo status=\$?" Enter
expect_state 3000 'not started: 0000:41:00.0 is in use by process 1000.*and 1 more; s starts' 'the other user is named'
keys q
expect 3000 '^status=0$' 'quit'
keys "clear; $fakes FAKE_NVML=processes=0 umockdev-wrapper $PLUG $dir/orders $BARSCOPE --store $dir/store.db; echo status=\$?" Enter
expect_state 3000 'starting|warming up|running|s starts another' 'it starts on a free GPU'
keys q
expect 3000 '^status=0$' 'quit'

say 'all GPUs at once: one works, of the other it is said that it does not'
keys "clear; $fakes umockdev-wrapper $PLUG $dir/orders $BARSCOPE --no-start --shape 1x256x256 --store $dir/store.db; echo status=\$?" Enter
expect 3000 '1 GPU, ' 'one GPU'
order plug
expect 3000 '2 GPUs' 'two GPUs'
keys e
expect 1500 '─ What runs ─' 'the form'
keys Tab Right
expect 1500 'all GPUs' 'the choice'
keys Enter
expect_state 3000 'running .*on 2 GPUs, 0000:41' 'both are started'
keys 5
expect 3000 '^.*[0-9] 0000:42:00.0: the NVIDIA driver has no device' 'the one that failed, in the lane'
keys D
expect_state 3000 'the NVIDIA driver has no device at 0000:42:00.0.*s starts' 'the other one is shown'
keys D
expect_state 3000 'running .*on 2 GPUs, 0000:41' 'and the first again'
keys s
expect_state 5000 'stopped' 'both stop'
keys q
expect 3000 '^status=0$' 'quit'

say 'clocks that a killed run has left locked are unlocked, once that is wanted'
export LD_LIBRARY_PATH=$FAKES FAKE_NVML_CLOCKS=$dir/clocks
locked_at() { [ "$(cat "$dir/clocks" 2>/dev/null)" = "$1" ]; }
ended() { ! kill -0 "$1" 2>/dev/null; }
"$BARSCOPE" stress --backend cuda --shape 2x64x40 --copies 3 --seconds 6000 --lock-clocks 1300 \
    --device 0000:41:00.0 --store "$dir/store.db" >"$dir/out" 2>&1 &
locking=$!
until_true 10000 locked_at 1300 || bad 'the clocks were not locked'
worker=$(pgrep -P $locking | head -n 1)
kill -KILL $locking
wait $locking 2>/dev/null
until_true 10000 ended "$worker" || bad 'the worker outlived its front'
look="clear; $fakes FAKE_NVML_CLOCKS=$dir/clocks $BARSCOPE --no-start --store $dir/store.db; echo status=\$?"
keys "$look" Enter
expect 3000 '─ Locked clocks' 'the question'
expect 3000 'clocks of 0000:41:00.0 are still locked at 1300 MHz' 'which, and how'
keys n
expect_gone 1500 '─ Locked clocks' 'not now'
locked_at 1300 || bad 'unlocked without a yes'
keys q
expect 3000 '^status=0$' 'quit'
keys "$look" Enter
expect 3000 '─ Locked clocks' 'the question again'
keys y
until_true 10000 locked_at 0 || bad 'a yes did not unlock the clocks'
keys 5
expect 3000 'clocks unlocked' 'in the lane'
keys q
expect 3000 '^status=0$' 'quit'
grep -q 'no run has left clocks locked' <<<"$("$BARSCOPE" stress --unlock-clocks --store "$dir/store.db" 2>&1)" ||
    bad 'the store still knows of locked clocks'

[ $failed = 0 ] && say 'all as it should be'
exit $failed
