#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What can go wrong between barscope and a GPU, one fault after the other, on a libcuda.so.1 that
# breaks when it is told to (tests/fakes/fakecuda.c). Each time: the front ends by itself, one
# sentence names the next step, and the record of the run is closed and keeps what was measured.
set -uo pipefail

dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME=$dir/data
bad=0
n=0
fail() {
    echo "FAIL: $*"
    sed 's/^/    /' "$dir/out"
    bad=1
}
ask() { # SQL
    python3 -c 'import sqlite3, sys
for row in sqlite3.connect(sys.argv[1]).execute(sys.argv[2]): print(*row, sep="|")' "$dir/$n.db" "$1"
}
broken() { # ORDERS SAMPLES PATTERN [STATUS]: the status (3), the pattern on stderr, a run that
    # failed with samples
    n=$((n + 1))
    FAKE_CUDA=$1 timeout 60 "$BARSCOPE" stress --backend cuda --shape 2x64x40 --copies 3 \
        --seconds 2 --record "fault $n" --store "$dir/$n.db" >"$dir/out" 2>&1
    local got=$?
    [ $got -eq "${4:-3}" ] || fail "$1: status $got"
    tr '\n' ' ' <"$dir/out" | grep -qE -- "$3" || fail "$1: no '$3'"
    [ "$(ask 'select state from runs')" = failed ] || fail "$1: the run is '$(ask 'select state from runs')'"
    [ "$(ask "select count(*) from intents where step like 'start of the worker%'")" = 1 ] ||
        fail "$1: no intent"
    local samples
    samples=$(ask 'select coalesce(sum(samples + warmups), 0) from seconds')
    if [ "$2" = some ]; then
        [ "$samples" -gt 0 ] || fail "$1: no samples were kept"
    else
        [ "$samples" -eq 0 ] || fail "$1: $samples samples"
    fi
}

# Before anything can be launched.
fakes=$LD_LIBRARY_PATH
LD_LIBRARY_PATH='' broken '' none "libcuda.so.1.*install the driver's user space" 4
export LD_LIBRARY_PATH=$fakes
broken missing=cuStreamQuery none 'cuStreamQuery.*11\.4'
broken missing=cuGraphInstantiateWithFlags none 'CUDA 11\.4 \(470\) or newer'
broken nodevice none "sees no device.*see 'barscope check' and the kernel log" 4
broken mismatch none 'reboot, or reload the module'
broken cc=75 none 'compute capability 7\.5; the kernels need 8\.0' 4
for i in 1 4 6 9; do
    broken oom=$i none 'allocating .*CUDA_ERROR_OUT_OF_MEMORY.*(free memory on the GPU|fewer copies)'
done
broken ptx222=80 none 'UNSUPPORTED_PTX_VERSION.*the driver is older than these kernels'

# While it runs: sticky, as on a GPU.
broken fail=2000 some 'CUDA_ERROR_LAUNCH_FAILED \(719\); read the kernel log for Xid'
broken ecc=2000 some 'uncorrectable error: read the kernel log for Xid'
broken hang=2000 some 'the worker has not answered for [0-9.]+ s'

# A slow one is no fault: it is measured.
n=$((n + 1))
FAKE_CUDA=slow=3000 timeout 60 "$BARSCOPE" stress --backend cuda --shape 2x64x40 --copies 3 \
    --samples 20 --json >"$dir/out" 2>&1 || fail "slow: status $?"
p50=$(sed -n 's/.*"p50_ns": \([0-9]*\).*/\1/p' "$dir/out" | head -n 1)
[ "${p50:-0}" -ge 3000000 ] || fail "slow: p50 is ${p50:-not there}"
echo "$n faults"
exit $bad
