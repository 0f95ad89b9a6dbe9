#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""hash_sources.py OUT.c FILE…: one number that changes with each of the files."""
import hashlib
import pathlib
import sys

h = hashlib.sha256()
for path in map(pathlib.Path, sys.argv[2:]):
    h.update(path.read_bytes())
pathlib.Path(sys.argv[1]).write_text(
    f'/* Made by kernels/hash_sources.py. */\n'
    f'#include <stdint.h>\n\n'
    f'extern const uint64_t gemm_cpu_sources;\n'
    f'const uint64_t gemm_cpu_sources = 0x{h.hexdigest()[:16]}u;\n')
