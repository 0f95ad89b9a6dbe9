#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""embed.py OUT.c FILE.ptx…: each PTX text as a C array, gemm_cuda_ptx_NAME."""
import pathlib
import sys

out = ['/* Made by kernels/cuda/embed.py. */\n']
for path in map(pathlib.Path, sys.argv[2:]):
    name = f'gemm_cuda_ptx_{path.stem}'
    data = path.read_bytes() + b'\0'
    rows = [','.join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
    out.append(f'extern const char {name}[];\nconst char {name}[] = {{\n')
    out.append(',\n'.join(rows) + '};\n')
pathlib.Path(sys.argv[1]).write_text(''.join(out))
