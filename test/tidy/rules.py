# SPDX-License-Identifier: BSD-3-Clause
"""The house rules: each is a function from the tree to the list of its breaches.

A breach is a line "file:line: what is wrong, and what to do". The reasons for the rules are in
doc/architecture.md. house_test.py shows for each rule that it can fail.
"""
import re

from cases import each_case_has_its_test

LINE_COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
# How many lines test/tidy/sizes.txt and untested.txt hold. These numbers may only fall.
SIZES_ENTRIES = 0
UNTESTED_ENTRIES = 5

SUITES = ('unit', 'script', 'sim', 'threads', 'dpdk', 'house', 'fuzz',
          'dropin')
DPDK_PLACES = ('lib/nic/', 'lib/worker/', 'lib/observe/', 'lib/start/', 'test/perf/',
               'test/dpdk/', 'test/smoke/', 'app/testroce/')
# What must not be said in the rooms up to the engine, and what to do instead.
CORE_BANS = (
    (r'\b(steady|system|high_resolution)_clock\b|clock_gettime|gettimeofday|rdtsc',
     'time is an argument'),
    (r'\b(rand|random|getrandom|srand)\s*\(|random_device|mt19937', 'randomness is an IdSource'),
    (r'\b(malloc|calloc|realloc|posix_memalign|aligned_alloc)\s*\(|\bnew\b(?!\s*\()|make_unique'
     r'|make_shared|new\s*\(std::', 'memory comes with init (mark it "// init") or with a command'),
    (r'\bstd::function\b|\bvirtual\b', 'function pointers given at init'),
    (r'\b(mutex|lock_guard|unique_lock|condition_variable)\b', 'one owner and rings, no lock'),
    (r'\b(usleep|nanosleep|sleep_for|sleep_until|std::thread)\b', 'the core starts and waits for '
     'nothing'),
)
LIBRARY_BANS = (
    (r'\b(throw|try)\b|\bcatch\s*\(', ('lib/config/', 'lib/start/'),
     'no exception crosses a room: Status'),
    (r'\bstd::cout\b|(?<![\w:])(std::)?(printf|puts|putchar)\s*\(', (),
     'the library prints nothing to stdout'),
    (r'(?<![\w.>])(signal|sigaction)\s*\(', (), 'the library installs no signal handler'),
)


def core_rooms(tree):
    end = tree.rooms.index('engine') + 1 if 'engine' in tree.rooms else 0
    return [room for room in tree.rooms[:end] if room != 'capture']


def includes_point_down(tree):
    breaches = []
    for room in tree.rooms:
        for used in tree.uses[room]:
            if used not in tree.rooms[:tree.rooms.index(room)]:
                breaches.append(f'lib/{room}/meson.build:1: uses {used}, which is not below it')
    for file in tree.cxx('lib/'):
        allowed = tree.may_include(file.room)
        for line, path, quoted in file.includes():
            target = path.split('/')[0]
            where = f'{file.name}:{line}: includes {path}'
            if quoted and target in tree.rooms and target not in allowed:
                breaches.append(f'{where}, but room_uses of {file.room} does not lead there')
            if (target == 'device' and file.room == 'nic' and path != 'device/port_ops.h'):
                breaches.append(f'{where}, but nic knows only device/port_ops.h')
            if target == 'uroce' and file.room in core_rooms(tree) + ['device']:
                breaches.append(f'{where}, but only faces know the public headers')
    return breaches


def dpdk_stays_at_the_door(tree):
    return [f'{file.name}:{line}: includes {path}: DPDK belongs to {", ".join(DPDK_PLACES)}'
            for file in tree.cxx() if not file.name.startswith(DPDK_PLACES)
            for line, path, _ in file.includes() if re.match(r'(rte_|cmdline)', path)]


def the_core_is_silent(tree):
    breaches = []
    prefixes = tuple(f'lib/{room}/' for room in core_rooms(tree))
    for file in tree.cxx(*prefixes) if prefixes else []:
        if file.is_test or file.name.startswith('lib/base/id_source.'):
            continue
        exempt = init_lines(file)
        for number, line in enumerate(file.code(), 1):
            for pattern, instead in CORE_BANS:
                match = re.search(pattern, line)
                if match and number not in exempt:
                    breaches.append(f'{file.name}:{number}: "{match[0]}" in the core: {instead}')
    return breaches


def init_lines(file):
    """What counts as init: constructors, functions marked "// init", lines that end with it."""
    marked = {number for number, line in enumerate(file.lines, 1) if line.endswith('// init')}
    for name, first, last in file.functions():
        parts = name.split('::')
        constructor = (len(parts) > 1 and parts[-1] == parts[-2]) or re.match(
            r'\s*(explicit |constexpr )*[A-Z]\w*\(', file.lines[first - 1])
        if constructor or first in marked or first - 1 in marked:
            marked.update(range(first, last + 1))
    return marked


def the_library_is_a_guest(tree):
    return [f'{file.name}:{number}: "{match[0]}": {instead}'
            for file in tree.cxx('lib/') if not file.is_test
            for number, line in enumerate(file.code(), 1)
            for pattern, allowed, instead in LIBRARY_BANS
            for match in [re.search(pattern, line)]
            if match and not (allowed and file.name.startswith(allowed))]


def programs_use_the_public_headers(tree):
    breaches = []
    for file in tree.cxx('app/'):
        for line, path, _ in file.includes():
            if '/' in path and path.split('/')[0] in tree.rooms + ['absl']:
                breaches.append(f'{file.name}:{line}: includes {path}: programs see only '
                                'include/uroce, themselves, std, CLI11 and toml++')
    return breaches


def public_headers_are_c(tree):
    """include/uroce is for C11 and C++ callers: no DPDK, no Abseil, no C++ header."""
    return [f'{file.name}:{line}: includes {path}: C headers and uroce/ only'
            for file in tree.cxx('include/') for line, path, _ in file.includes()
            if not (path.endswith('.h') and not path.startswith(('rte_', 'absl/')))]


def read_list(tree, name):
    file = tree.by_name.get(f'test/tidy/{name}')
    lines = file.lines if file else []
    return [line.split('#')[0].strip() for line in lines if line.split('#')[0].strip()]


def ratchet(name, listed, found, limit):
    """A list of exceptions equals what is found, and is no longer than its limit."""
    breaches = [f'test/tidy/{name}: "{entry}" is no longer true: remove or lower it'
                for entry in listed if entry not in found]
    if len(listed) != limit:
        breaches.append(f'test/tidy/{name}: {len(listed)} entries, rules.py says {limit}: '
                        'the list may only shrink, and the number with it')
    return breaches + [f'{what}: {found[what]}' for what in found if what not in listed]


def sizes(tree):
    found, breaches = {}, []
    for file in tree.sources():
        count = len(file.lines) - 1
        if count > FILE_LINES_MAX:
            found[f'{file.name} {count}'] = f'lines; at most {FILE_LINES_MAX}, split it'
        for name, first, last in file.functions():
            if last - first + 1 > FUNCTION_LINES_MAX:
                found[f'{file.name} {name} {last - first + 1}'] = (
                    f'lines; a function has at most {FUNCTION_LINES_MAX}')
        for number, line in enumerate(file.lines, 1):
            if len(line) > LINE_COLUMNS_MAX:
                breaches.append(f'{file.name}:{number}: {len(line)} columns; '
                                f'at most {LINE_COLUMNS_MAX}')
    return breaches + ratchet('sizes.txt', read_list(tree, 'sizes.txt'), found, SIZES_ENTRIES)


def each_file_has_its_test(tree):
    found = {file.name: 'no test beside it: write ' + file.name.replace('.cc', '_test.cc')
             for file in tree.cxx('lib/') if file.suffix == '.cc' and not file.is_test
             and file.name.replace('.cc', '_test.cc') not in tree.by_name}
    return ratchet('untested.txt', read_list(tree, 'untested.txt'), found, UNTESTED_ENTRIES)


def files_introduce_themselves(tree):
    breaches = []
    for file in tree.sources():
        lines = file.lines[1:] if file.lines[0].startswith('#!') else file.lines
        mark = '//' if file.is_cxx else '#'
        if lines[0] != f'{mark} SPDX-License-Identifier: BSD-3-Clause':
            breaches.append(f'{file.name}:1: the licence line comes first: '
                            f'{mark} SPDX-License-Identifier: BSD-3-Clause')
        elif not re.match(r'(//|/\*\s*\*|#|""")\s*\S+ \S+ \S+', ''.join(lines[1:3])):
            breaches.append(f'{file.name}:2: say in one sentence what this file is')
    return breaches


def nothing_is_left_over(tree):
    marker = re.compile(r'\b(TO' r'DO|FIX' r'ME|XX' r'X|HA' r'CK)\b')
    place = re.compile(r'(?<![\w.])/(wo' r'rk|ho' r'me|tmp/w' r't)/')
    return [f'{file.name}:{number}: "{match[0]}" is left over: do it, or say what is'
            for file in tree.files for number, line in enumerate(file.lines, 1)
            for match in [marker.search(line) or place.search(line)] if match]


def no_file_is_the_whole(tree):
    return [f'{file.name}:1: no file is named after the whole thing: name what it does'
            for file in tree.files if re.fullmatch(r'(qp|rdma|roce)\.(cc|c)',
                                                   file.name.split('/')[-1])]


def each_file_is_built(tree):
    """A room's own meson.build names its files; elsewhere any does, as 'x.cc' or in a loop 'x'."""
    everywhere = ' '.join(file.text for file in tree.files if file.suffix == '.build')
    breaches = []
    for file in tree.cxx():
        base = file.name.split('/')[-1]
        room = tree.by_name.get(f'lib/{file.room}/meson.build')
        text = room.text if room else everywhere
        if file.suffix in ('.cc', '.c') and not re.search(
                rf"\b{re.escape(base)}'|'{re.escape(base.rsplit('.', 1)[0])}'", text):
            breaches.append(f'{file.name}:1: no meson.build names it')
    return breaches


def suites_are_known(tree):
    return [f'{file.name}:{number}: no such suite: {name}; ./run test knows {", ".join(SUITES)}'
            for file in tree.files if file.suffix == '.build'
            for number, line in enumerate(file.lines, 1)
            for name in re.findall(r"suite:\s*'(\w+)'", line) if name not in SUITES]


def links_lead_somewhere(tree):
    breaches = []
    for file in tree.files:
        for target in re.findall(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)', file.text) \
                if file.suffix == '.md' else []:
            if not (tree.root / file.name).parent.joinpath(target).exists():
                breaches.append(f'{file.name}:1: links to {target}, which does not exist')
    return breaches


def rooms_are_described(tree):
    text = tree.by_name['doc/architecture.md'].text if 'doc/architecture.md' in tree.by_name else ''
    return [f'doc/architecture.md:1: room lib/{room} is not described'
            for room in tree.rooms if f'lib/{room}`' not in text]


def names_are_documented(tree):
    """Names that a user meets stand in the page for them, in backquotes."""
    tables = (
        ('lib/wire/drop.cc', r'\{Drop::k\w+,\s*"(\w+)"', 'doc/counters.md'),
        ('lib/transport/transport_counters.h', r'\bX\((\w+)\)  ', 'doc/counters.md'),
        ('lib/observe/counter_names.cc', r'"(\w+)"', 'doc/counters.md'),
        ('lib/config/keys.cc', r'\bkey == "(\w+)"', 'doc/configuration.md'),
    )
    breaches = []
    for source, pattern, page in tables:
        names = re.findall(pattern, tree.by_name[source].text) if source in tree.by_name else []
        text = tree.by_name[page].text if page in tree.by_name else ''
        breaches += [f'{page}:1: does not explain `{name}` of {source}' for name in names
                     if f'`{name}`' not in text and name != 'none']
    return breaches


RULES = (includes_point_down, dpdk_stays_at_the_door, the_core_is_silent, the_library_is_a_guest,
         programs_use_the_public_headers, public_headers_are_c, sizes, each_file_has_its_test,
         files_introduce_themselves, nothing_is_left_over, no_file_is_the_whole,
         each_file_is_built, suites_are_known, links_lead_somewhere, rooms_are_described,
         names_are_documented, each_case_has_its_test)
