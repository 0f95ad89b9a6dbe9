#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# `stress` on the fakes of CUDA and NVML: what it says of the GPU's readings, runs that the GPU
# ends, and clocks that are locked and unlocked on every way out.
set -u

for tool in pgrep timeout; do
    command -v $tool >/dev/null || {
        echo "$tool is not there"
        exit 77
    }
done
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
export XDG_DATA_HOME=$dir/data FAKE_CUDA='' FAKE_NVML='' FAKE_NVML_CLOCKS=$dir/clocks
gpu=0000:41:00.0
bad=0

stress() { # ARGUMENTS...; stdout and stderr to files, the status as its own
    "$BARSCOPE" stress --backend cuda --shape "${shape:-2x64x40}" --copies 3 "$@" >"$dir/out" 2>"$dir/err"
}
expect() { # STATUS WANTED FILE PATTERN
    if [ "$1" -ne "$2" ] || ! grep -aq -e "$4" "$dir/$3"; then
        echo "FAIL: status $1 (wanted $2), '$4' wanted in $3:"
        cat "$dir/out" "$dir/err"
        bad=1
    fi
}
clocks() { # MHZ
    local is
    is=$(cat "$dir/clocks")
    [ "$is" = "$1" ] || {
        echo "FAIL: the clocks are locked at '$is', not '$1'"
        bad=1
    }
}

# What the readings tell.
FAKE_NVML=step=225,reasons=0x4,capped=40 stress --seconds 4
expect $? 0 out 'SM 1755 to 1980 MHz, memory 3201 MHz, chip 40'
expect 0 0 out '^held back   seen: power cap; power for '
expect 0 0 out '^readings  *[0-9.]* a second, '
FAKE_NVML=step=225,reasons=0x4,capped=40 stress --seconds 3 --json
expect $? 0 out '"temperature_c"'
expect 0 0 out '"link_width": 16'
FAKE_NVML=nodriver stress --seconds 1
expect $? 0 out '^readings  *nvmlInit: NVML error 9: Driver Not Loaded'
stress --seconds 1 --no-telemetry
expect $? 0 out '^samples'
grep -qE '^(GPU|readings)' "$dir/out" && bad=1
stress --seconds 4 --telemetry-test
expect $? 0 out '^self-test  *readings cost [+-][0-9.]* % p50'

# Runs that the GPU ends.
FAKE_NVML=xid=79:2500 stress --seconds 60
expect $? 1 out '^ended  *Xid 79, GPU has fallen off the bus'
FAKE_NVML=celsius=88,heat=1 stress --seconds 60 --max-temperature 89 --json
expect $? 1 out '"ended_by": "heat"'

# A limit that cannot be watched is refused, however the readings are missing.
FAKE_NVML=unsupported=GetTemperature stress --seconds 60 --max-temperature 60
expect $? 3 err 'cannot be ended at 60 °C: NVML does not tell'
FAKE_NVML=denied=GetTemperature stress --seconds 60 --max-temperature 60
expect $? 3 err 'cannot be ended at 60 °C: NVML may not read'
FAKE_NVML=broken=GetTemperature stress --seconds 60 --max-temperature 60
expect $? 3 err 'cannot be ended at 60 °C: NVML fails to read'
FAKE_NVML=broken=GetTemperature:2 stress --seconds 1 --max-temperature 60
expect $? 0 out '^samples'
FAKE_NVML=nodriver stress --seconds 60 --max-temperature 60
expect $? 3 err 'Driver Not Loaded'
FAKE_NVML=unsupported=GetTemperature stress --seconds 1
expect $? 0 out '^samples'

# What the worker says of its kernel comes whole, and into the store.
FAKE_CUDA=ptx222=90 shape=8x64x40 stress --samples 50 --record noted
expect $? 0 out "^note  *kernels 'gemm90' refused: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"
expect 0 0 out "current version is '7.4'"
"$BARSCOPE" runs export noted -o "$dir/bundle" 2>"$dir/err"
expect $? 0 bundle "current version is '7.4'"
FAKE_CUDA=ptx222=90 shape=8x64x40 stress --samples 50 --json
expect $? 0 out "\"note\": \"kernels 'gemm90' refused.*current version is '7.4'"

# What only a GPU can follow is not run on the CPU when there is none.
for option in --telemetry-test "--device $gpu" '--max-temperature 60' '--mode graph' '--shape decode7b'; do
    # shellcheck disable=SC2086
    LD_LIBRARY_PATH='' "$BARSCOPE" stress $option --seconds 1 >"$dir/out" 2>"$dir/err"
    expect $? 4 err "^barscope: ${option%% *}.* needs the cuda back end: libcuda"
done

# Bad usage.
stress --lock-clocks 1200
expect $? 3 err 'needs --device BDF'
stress --lock-clocks 1200 --device 41:0.0
expect $? 3 err 'no PCI address'
stress --no-telemetry --max-temperature 80
expect $? 3 err 'does not go with'
stress --max-temperature 20
expect $? 3 err '--max-temperature'

# Locked clocks: the usual way out, a refusal, a signal.
stress --seconds 1 --lock-clocks 1200 --device $gpu --record locked
expect $? 0 out 'SM 1200 MHz'
clocks 0
FAKE_NVML=denied=SetGpuLocked stress --seconds 1 --lock-clocks 1200 --device $gpu
expect $? 3 err 'clocks cannot be locked: NVML error 4.*it needs root'
stress --unlock-clocks
expect $? 0 out 'no run has left clocks locked'
echo junk >"$dir/junk"
stress --unlock-clocks --store "$dir/junk"
expect $? 3 err 'is not a barscope store'

locked_run() { # SIGNAL: starts one, waits until they are locked
    stress --seconds 60 --lock-clocks 1300 --device $gpu &
    front=$!
    for _ in $(seq 1200); do # a minute
        [ "$(cat "$dir/clocks")" = 1300 ] && break
        sleep 0.05
    done
    clocks 1300
    # The subshell's child is the program, and that one's the worker.
    program=$(pgrep -P $front | head -n 1)
    program=${program:-$front}
    worker=$(pgrep -P "$program" | head -n 1)
}
locked_run
kill -TERM "$program"
wait $front
clocks 0

# The worker is killed: the front has another process unlock them.
locked_run
kill -KILL "$worker"
wait $front
expect $? 3 err 'ended by signal 9'
clocks 0

# A second run may not lock the same GPU's clocks.
locked_run
"$BARSCOPE" stress --backend cuda --seconds 1 --lock-clocks 900 --device $gpu 2>"$dir/err2" && bad=1
grep -q 'another run has locked the clocks' "$dir/err2" || {
    cat "$dir/err2"
    bad=1
}
# All are killed: they stay locked, the next start says so, and offers to unlock them.
kill -KILL "$program"
wait $front 2>/dev/null
for _ in $(seq 1200); do
    kill -0 "$worker" 2>/dev/null || break
    sleep 0.05
done
clocks 1300
stress --seconds 1
expect $? 0 err "the clocks of $gpu are still locked at 1300 MHz"
FAKE_NVML=denied=ResetGpu stress --unlock-clocks
expect $? 3 err "stay locked.*nvidia-smi -i $gpu -rgc"
stress --unlock-clocks
expect $? 0 out "$gpu: unlocked, was 1300 MHz"
clocks 0
stress --seconds 1
[ -s "$dir/err" ] && {
    cat "$dir/err"
    bad=1
}

# The live machine's sizes: NVML is a witness where its driver has the GPU. (Under umockdev this
# machine is the H200 of the corpus.)
if command -v umockdev-run >/dev/null; then
    "$BARSCOPE" capture --root "$BARSCOPE_SOURCE/tests/corpus/001-h200-vm/machine" -o "$dir/h200.rec"
    FAKE_NVML=address=0000:00:06.0,vram=143771,bar1=262144 umockdev-run -d "$dir/h200.rec" -- \
        "$BARSCOPE" check --explain >"$dir/out" 2>"$dir/err"
    expect $? 0 out 'R3  NVML: NVML memory total: 140.4 GiB'
fi

exit $bad
