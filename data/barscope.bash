# bash completion for barscope                             -*- shell-script -*-
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands and options are asked of the program itself: its --help is the only list.

_barscope() {
    local cur=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} words
    if [ "$COMP_CWORD" -eq 1 ] && [[ $cur != -* ]]; then
        words=$(barscope --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p')
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        return
    fi
    if [[ $cur == -* ]]; then
        if [[ $command == -* ]]; then
            words=$(barscope --help 2>/dev/null)
        else
            words=$(barscope "$command" --help 2>/dev/null)
        fi
        words=$(grep -oE -- '--[a-z][a-z-]+' <<<"$words" | sort -u)
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        return
    fi
    COMPREPLY=($(compgen -f -- "$cur"))
    compopt -o filenames 2>/dev/null
}
complete -F _barscope barscope
