# SPDX-License-Identifier: GPL-2.0-or-later
# The commands and options are asked of the program itself: its --help is the only list.

function __barscope_commands
    barscope --help 2>/dev/null | string replace -rf '^  ([a-z]+)\s+(.*)' '$1\t$2'
end

function __barscope_options
    set -l command (commandline -opc)[2]
    barscope $command --help 2>/dev/null | string match -ra -- '--[a-z][a-z-]+' | sort -u
end

complete -c barscope -n __fish_use_subcommand -f -a '(__barscope_commands)'
complete -c barscope -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__barscope_options)'
