#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Line coverage of each room, from gcovr's JSON summary; fails where the core has too little.

  coverage.py SUMMARY.json
"""
import json
import sys

LINES_PERCENT_MIN = 95.0
WATCHED = ('wire', 'memory', 'transport', 'group', 'engine')


def rooms_of(summary):
    """{room: [lines covered, lines]} of a summary's files below lib/."""
    rooms = {}
    for file in summary['files']:
        parts = file['filename'].split('/')
        if parts[0] != 'lib' or len(parts) < 3:
            continue
        room = rooms.setdefault(parts[1], [0, 0])
        room[0] += file['line_covered']
        room[1] += file['line_total']
    return rooms


def lacking(rooms):
    """The watched rooms that have too little, or nothing at all."""
    return [room for room in WATCHED if room not in rooms
            or 100 * rooms[room][0] < LINES_PERCENT_MIN * rooms[room][1]]


def main():
    with open(sys.argv[1]) as file:
        rooms = rooms_of(json.load(file))
    print(f'{"room":<12}{"lines":>8}{"covered":>9}{"share":>9}')
    for room, (covered, lines) in rooms.items():
        wanted = f'  at least {LINES_PERCENT_MIN:.0f} %' if room in WATCHED else ''
        print(f'{room:<12}{lines:>8}{covered:>9}{100 * covered / max(lines, 1):>7.1f} %{wanted}')
    for room in lacking(rooms):
        print(f'lib/{room} has less than {LINES_PERCENT_MIN:.0f} % of its lines covered: '
              'build/coverage.html shows which are missing')
    return 1 if lacking(rooms) else 0


if __name__ == '__main__':
    sys.exit(main())
