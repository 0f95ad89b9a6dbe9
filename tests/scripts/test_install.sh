#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What "meson install" puts where, and that bash completes commands and options with it.
set -uo pipefail

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
failed=0
DESTDIR=$dir meson install -C "$BARSCOPE_BUILD" --no-rebuild --quiet || exit 1
root=$(find "$dir" -type d -name bin -exec dirname {} \;)

for f in bin/barscope share/bash-completion/completions/barscope share/zsh/site-functions/_barscope \
    share/fish/vendor_completions.d/barscope.fish share/applications/barscope.desktop; do
    [ -s "$root/$f" ] || { echo "FAIL: $f was not installed"; failed=1; }
done
if command -v scdoc >/dev/null; then
    [ -s "$root/share/man/man1/barscope.1" ] || { echo "FAIL: no man page"; failed=1; }
fi

export PATH=$root/bin:$PATH
. "$root/share/bash-completion/completions/barscope"
complete_for() {
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    COMPREPLY=()
    _barscope
    echo "${COMPREPLY[*]}"
}
[ "$(complete_for barscope sh)" = show ] || { echo "FAIL: sh: $(complete_for barscope sh)"; failed=1; }
[[ " $(complete_for barscope show --j) " == *' --json '* ]] ||
    { echo "FAIL: show --j: $(complete_for barscope show --j)"; failed=1; }
exit $failed
