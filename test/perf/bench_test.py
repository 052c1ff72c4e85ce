#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A short run of uroce-bench: its gate holds, its file has every row: bench_test.py PROGRAM JSON"""
import json
import pathlib
import subprocess
import sys

PORTS = ('no filter', 'list of 64', 'list of 10000')
# Name, size: what stands beside it. Alone: ''.
BESIDE = {
    **{('UD TX+RX, burst 32', size): 'floor' for size in (64, 1024, 4096)},
    **{(f'UD TX+RX, burst {burst}', 64): 'floor' for burst in (1, 8)},
    **{('copy of 64 B, members', members): 'kernel UDP' for members in (1, 8, 64, 1024)},
    **{(f'{call}, {port}, groups', groups): '' if groups == 1 else 'at 1 group'
       for call in ('attach', 'detach') for port in PORTS for groups in (1, 1000, 8000)},
    **{('icrc', size): '' for size in (64, 256, 1024, 4096)},
    **{('icrc_copy', size): '' for size in (64, 1024, 4096)},
    **{('qp_lookup', slots): '' for slots in (1024, 65536)},
    ('parse', 64): '',
}


def faults(rows, kernel_refuses):
    found = {(row['name'], row['size']): row for row in rows}
    for key in set(found) ^ set(BESIDE):
        yield f'{key}: ' + ('missing' if key in BESIDE else 'nobody expects it')
    for key in set(found) & set(BESIDE):
        row, beside = found[key], BESIDE[key]
        if beside == 'kernel UDP' and kernel_refuses:
            beside = ''
        if row['beside'] != beside:
            yield f'{key}: beside "{row["beside"]}", not "{beside}"'
        if row['ns'] <= 0 or row['p90'] <= 0:
            yield f'{key}: {row}'
        if beside and (row['beside_ns'] <= 0 or row['ratio'] <= 0):
            yield f'{key}: no figure of {beside}: {row}'


def main():
    program, path = sys.argv[1], pathlib.Path(sys.argv[2])
    path.unlink(missing_ok=True)
    run = subprocess.run([program, '--smoke', '--json', path], capture_output=True, text=True,
                         timeout=150)
    print(run.stdout, run.stderr)
    if run.returncode != 0:
        sys.exit(f'status {run.returncode}')
    rows = json.loads(path.read_text())
    bad = list(faults(rows, 'without the kernel beside it' in run.stderr))
    if run.stdout.count('\n') != len(rows) + 1:
        bad.append(f'{len(rows)} rows in the file, and another number on the screen')
    for arguments in ['--nonsense'], ['--datagrams', '--multicast'], ['--only', '64', '33']:
        refusal = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=20)
        if refusal.returncode != 2 or not refusal.stderr.startswith('uroce-bench: '):
            bad.append(f'{arguments}: status {refusal.returncode}, {refusal.stderr!r}')
    usage = subprocess.run([program, '--help'], capture_output=True, text=True, timeout=20)
    if usage.returncode != 0 or '--smoke' not in usage.stdout or usage.stderr:
        bad.append(f'--help: {usage}')
    sys.exit('\n'.join(bad) or 0)


main()
