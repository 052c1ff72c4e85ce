# SPDX-License-Identifier: BSD-3-Clause
"""The source tree as the house rules see it: files, lines, includes, functions, rooms."""
import ast
import pathlib
import re

FOLDERS = ('lib', 'app', 'include', 'test', 'config', 'doc', '.ci')
CXX = ('.cc', '.h', '.c')
SOURCE = CXX + ('.py', '.sh', '.toml', '.build')


class File:
    """One text file; `name` is its path from the root, with slashes."""

    def __init__(self, root, path):
        self.name = path.relative_to(root).as_posix()
        self.suffix = '.build' if path.name == 'meson.build' else path.suffix
        self.text = path.read_text(errors='replace')
        if not self.suffix and self.text.startswith('#!'):
            self.suffix = '.py' if 'python' in self.text.split('\n', 1)[0] else '.sh'
        self.lines = self.text.split('\n')
        self.is_cxx = self.suffix in CXX
        self.is_source = self.suffix in SOURCE
        self.is_test = bool(re.search(r'(^|_)(test|fixture)[_.]', path.name))
        parts = self.name.split('/')
        self.room = parts[1] if parts[0] == 'lib' and len(parts) > 2 else None

    def includes(self):
        """[(line number, path included, quoted?)]"""
        found = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if match:
                found.append((number, match[2], match[1] == '"'))
        return found

    def code(self):
        """The lines without comments, strings and preprocessor lines; line numbers stay."""
        return blank(self.text).split('\n')

    def functions(self):
        """[(name, first line, last line)] of the outermost functions."""
        if self.is_cxx:
            return cxx_functions(self.text)
        if self.suffix == '.py':
            return [(node.name, node.lineno, node.end_lineno) for node in ast.walk(
                ast.parse(self.text)) if isinstance(node, ast.FunctionDef)]
        if self.suffix == '.sh':
            return shell_functions(self.lines)
        return []


class Tree:
    """All files below one root, and the order of the rooms from lib/meson.build."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        paths = [path for folder in FOLDERS for path in sorted((self.root / folder).rglob('*'))]
        paths += sorted(self.root.glob('*'))
        self.files = [File(self.root, path) for path in paths if path.is_file()
                      and '__pycache__' not in path.parts and path.name != '.git'
                      and is_text(path)]
        self.by_name = {file.name: file for file in self.files}
        self.rooms = self.read_rooms()
        self.uses = {room: self.read_uses(room) for room in self.rooms}

    def read_rooms(self):
        file = self.by_name.get('lib/meson.build')
        match = re.search(r'^rooms = \[(.*?)^\]', file.text, re.M | re.S) if file else None
        return re.findall(r"^\s*'(\w+)'", match[1], re.M) if match else []

    def read_uses(self, room):
        file = self.by_name.get(f'lib/{room}/meson.build')
        match = re.search(r'^room_uses = \[(.*?)\]', file.text, re.M | re.S) if file else None
        return re.findall(r"'(\w+)'", match[1]) if match else []

    def may_include(self, room):
        """The rooms a room sees: those it uses, and those that they use."""
        seen, waiting = {room}, list(self.uses.get(room, []))
        while waiting:
            used = waiting.pop()
            if used not in seen:
                seen.add(used)
                waiting += self.uses.get(used, [])
        return seen

    def sources(self):
        return [file for file in self.files if file.is_source]

    def cxx(self, *prefixes):
        return [file for file in self.files
                if file.is_cxx and file.name.startswith(prefixes or '')]


def is_text(path):
    with open(path, 'rb') as handle:
        return b'\0' not in handle.read(4096)


def blank(text):
    """C++ with comments, literals and preprocessor lines replaced by spaces, lines kept."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:\\\n|[^\n])*", re.S | re.M)
    return pattern.sub(lambda match: re.sub(r'[^\n]', ' ', match[0]), text)


def cxx_functions(text):
    """Finds function bodies by their braces: a block whose head has a parameter list.

    A head begins after the last `;`, `{` or `}`. Braces inside parentheses and braces glued to a
    name (`count_{0}`) are initialisers: they are part of the head. clang-format makes that sure.
    """
    code = blank(text)
    found, stack, head_start, parentheses = [], [], 0, 0
    for position, letter in enumerate(code):
        if letter in '()':
            parentheses += 1 if letter == '(' else -1
        elif letter == '{':
            if parentheses > 0 or re.match(r'[\w>\]]', code[position - 1]):
                stack.append('initialiser')
                continue
            stack.append(None if any(type(outer) is int for outer in stack)
                         or not is_function_head(code[head_start:position]) else head_start)
            head_start = position + 1
        elif letter == '}':
            start = stack.pop() if stack else None
            if start == 'initialiser':
                continue
            if start is not None:
                found.append(describe_function(code, start, position))
            head_start = position + 1
        elif letter == ';' and parentheses == 0:
            head_start = position + 1
    return found


def is_function_head(head):
    head = re.sub(r'\b(alignas|__attribute__|decltype)\s*\(', '', head).rstrip()
    return '(' in head and not head.endswith(('=', ',', 'return'))


def describe_function(code, start, end):
    head = code[start:end]
    start += re.match(r'(\s*(public|private|protected):)*\s*', head).end()
    head = code[start:end]
    name = re.search(r'(operator\s*\S+?|[\w:~]+)\s*\(', head)
    return (name[1] if name else '?', code.count('\n', 0, start) + 1,
            code.count('\n', 0, end) + 1)


def shell_functions(lines):
    found, start, name = [], 0, None
    for number, line in enumerate(lines, 1):
        match = re.match(r'(\w+)\(\) \{', line)
        if match:
            name, start = match[1], number
        elif line == '}' and name:
            found.append((name, start, number))
            name = None
    return found
