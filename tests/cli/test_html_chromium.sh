#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# test_html_chromium.sh MAKE_RUN [FOLDER]: the pages of test_html.sh in a real browser, at 400 and
# 1600 pixels, light and dark: nothing is wider than the window, no label is too small, cut off or on top
# of another, the browser says nothing and asks for nothing. FOLDER keeps the screenshots.
set -u

browser=
for name in chromium chromium-browser google-chrome; do
    command -v $name >/dev/null && browser=$name && break
done
[ -n "$browser" ] || { echo 'chromium is not there'; exit 77; }
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
shots=${2:-$dir/shots}
mkdir -p "$dir/pages" "$shots"
bad=0

fail() {
    echo "FAIL: $1"
    bad=1
}
look() { # LOG ARGUMENTS...
    local log=$1
    shift
    timeout 60 $browser --headless --no-sandbox --disable-gpu --hide-scrollbars --no-first-run \
        --disable-background-networking --disable-component-update --disable-sync --disable-default-apps \
        --host-resolver-rules='MAP * ~NOTFOUND, EXCLUDE 127.0.0.1' \
        --user-data-dir="$dir/profile" --enable-logging=stderr "$@" 2>"$log" </dev/null
}
# What a page asked for; the browser's own requests have no origin.
asked() {
    grep '"initiator"' "$dir/net" | grep -v '"initiator":"not an origin"' | grep -oE '"url":"(https?|wss?|ftp):[^"]*"' | sort -u
}
# Both widths in one window, each in a frame: a frame has any width. The title collects what they tell.
frames() { # PAGE OUT
    cat >"$2" <<PAGE
<!DOCTYPE html><title>none</title><body style="margin:0;display:flex;overflow:hidden">
<script>addEventListener('message', e => { document.title += ' ' + e.data })</script>
<iframe src="file://$1" style="border:0;flex:none;width:400px;height:7000px"></iframe>
<iframe src="file://$1" style="border:0;flex:none;width:1600px;height:7000px"></iframe></body>
PAGE
}
# A copy that measures itself; the page's own policy would forbid it.
measured() { # PAGE OUT
    sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' "$1" >"$2"
    cat >>"$2" <<'PAGE'
<script>
addEventListener('load', () => {
    let small = [], cut = [], over = [];
    const wide = document.documentElement.scrollWidth, room = document.documentElement.clientWidth;
    for (const svg of document.querySelectorAll('svg')) {
        const frame = svg.getBoundingClientRect();
        if (!frame.width) continue;
        const scale = frame.width / svg.viewBox.baseVal.width, seen = [];
        for (const text of svg.querySelectorAll('text')) {
            const r = text.getBoundingClientRect(), s = text.textContent;
            if (!s.trim()) continue;
            if (parseFloat(getComputedStyle(text).fontSize) * scale < 9) small.push(s);
            if (r.left < frame.left - 1 || r.right > frame.right + 1 || r.top < frame.top - 1 || r.bottom > frame.bottom + 1)
                cut.push(s);
            for (const o of seen)
                if (Math.min(r.right, o.r.right) - Math.max(r.left, o.r.left) > 2 &&
                    Math.min(r.bottom, o.r.bottom) - Math.max(r.top, o.r.top) > 4) over.push(o.s + '|' + s);
            seen.push({r, s});
        }
    }
    let drawn = [...document.querySelectorAll('svg')].filter(s => s.getBoundingClientRect().width).length;
    parent.postMessage(JSON.stringify({wide, room, drawn, small, cut, over}), '*');
});
</script>
PAGE
}

"$(dirname "$0")/test_html.sh" "$1" "$dir/pages" || exit 1

# What the browser would say of a page that does ask, and does complain.
cat >"$dir/control.html" <<'PAGE'
<!DOCTYPE html><img src="http://127.0.0.1:9/x.png"><script>console.error('complaint')</script>
PAGE
look "$dir/log" --log-net-log="$dir/net" --dump-dom "file://$dir/control.html" >/dev/null
grep -q 'CONSOLE.*complaint' "$dir/log" || fail 'the control page: its complaint is not heard'
[ "$(asked)" = '"url":"http://127.0.0.1:9/x.png"' ] || fail 'the control page: its request is not seen'

for page in "$dir"/pages/*.html; do
    name=$(basename "$page" .html)
    [ "$name" = bundle ] && continue # drawn like another one
    rm -f "$dir/net"
    look "$dir/log" --log-net-log="$dir/net" --dump-dom "file://$page" >"$dir/dom"
    grep -q '</footer>' "$dir/dom" || fail "$name: the browser does not see its end"
    grep 'CONSOLE' "$dir/log" && fail "$name: the browser complains"
    asked | grep . && fail "$name: it asks for something"
    measured "$page" "$dir/measured.html"
    frames "$dir/measured.html" "$dir/frame.html"
    frames "$page" "$dir/plain.html"
    for scheme in light dark; do
        look=(--blink-settings=preferredColorScheme=$([ $scheme = light ] && echo 1 || echo 0) --window-size=2000,7000)
        got=$(look "$dir/log" "${look[@]}" --virtual-time-budget=5000 --dump-dom "file://$dir/frame.html" |
            grep -oE '<title>none .*</title>' | sed 's/<[^>]*>//g')
        for width in 400 1600; do
            grep -qE "{\"wide\":$width,\"room\":$width,\"drawn\":[56],\"small\":\[\],\"cut\":\[\],\"over\":\[\]}" <<<"$got" ||
                fail "$name at $width pixels, $scheme: ${got:-nothing measured}"
        done
        [ -n "${2:-}" ] || continue
        look "$dir/log" "${look[@]}" --screenshot="$shots/$name-$scheme.png" "file://$dir/plain.html" >/dev/null
    done
done
exit $bad
