#!/usr/bin/env python3
"""Checks every #include against the table in layers.txt.

Usage: check_layers.py [--root DIR]
A fault names the file and line, the header, both rooms and the broken rule.
Needs nothing but Python.
"""
import argparse
import fnmatch
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402

TABLE = "tests/lint/layers.txt"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
STANDARD = set("""
algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv
cfloat charconv chrono cinttypes climits clocale cmath compare complex concepts
condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio
cstdlib cstring ctime cwchar cwctype deque exception execution filesystem
forward_list fstream functional future initializer_list iomanip ios iosfwd
iostream istream iterator latch limits list locale map memory memory_resource
mutex new numbers numeric optional ostream queue random ranges ratio regex
scoped_allocator semaphore set shared_mutex source_location span sstream stack
stdexcept stop_token streambuf string string_view syncstream system_error thread
tuple type_traits typeindex typeinfo unordered_map unordered_set utility
valarray variant vector version
assert.h ctype.h errno.h float.h inttypes.h limits.h locale.h math.h setjmp.h
stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h string.h time.h
""".split())


class Table:
    """layers.txt, parsed; `faults` holds what is wrong with the table."""

    def __init__(self, rows):
        self.rooms, self.testing, self.solo, self.groups = {}, {}, {}, {}
        self.faults = []
        kinds = {"room": self.rooms, "testing": self.testing,
                 "solo": self.solo, "group": self.groups}
        for kind, name, *items in rows:
            if kind not in kinds:
                self.faults.append(f"{TABLE}: unknown kind of row '{kind}'")
            elif name in kinds[kind]:
                self.faults.append(f"{TABLE}: {kind} {name} stands there twice")
            else:
                kinds[kind][name] = items
        for kind in (self.rooms, self.testing):
            for name, items in kind.items():
                self.faults += [f"{TABLE}: {name} names the unknown group {i}"
                                for i in items
                                if i[0] == "@" and i[1:] not in self.groups]

    def room_of(self, path):
        """(the row's name, the folder or file that is the room), or None."""
        best = None
        for name in self.rooms:
            if name.endswith("/*"):
                parent = name[:-2]
                rest = path[len(parent) + 1:].split("/")
                if not path.startswith(parent + "/") or len(rest) < 2:
                    continue
                place = f"{parent}/{rest[0]}"
            elif path == name or path.startswith(name + "/"):
                place = name
            else:
                continue
            if best is None or len(place) > len(best[1]):
                best = (name, place)
        return best

    def group_of(self, header):
        for name, prefixes in self.groups.items():
            for prefix in prefixes:
                if header == prefix or (prefix.endswith("/") and
                                        header.startswith(prefix)):
                    return name
        return None


def under(path, item):
    """Whether `item` (a folder, a file or a pattern) of a row covers `path`."""
    if "*" in item:
        return (fnmatch.fnmatch(path, item) and
                path.count("/") == item.count("/"))
    return path == item or path.startswith(item + "/")


def stem(path):
    name = os.path.splitext(os.path.basename(path))[0]
    return re.sub(r"_(test|fuzz|bench)$", "", name)


def fault_of(table, path, header):
    """Why `path` may not include `header`, or an empty string."""
    room, place = table.room_of(path)
    allowed = list(table.rooms[room])
    if tree.is_test(path):
        allowed += ["@testing"] + table.testing.get(room, [])
    group = table.group_of(header)
    if group is not None:
        return "" if "@" + group in allowed else (
            f"room {room} may not include the group @{group}")
    if header in STANDARD:
        return ""
    there = table.room_of(header)
    if tree.is_test(header) and not tree.is_test(path) and room != "tests":
        return "a header of tests, included from what is no test"
    if there is None:
        return f"neither a room of {TABLE} nor a known system header"
    if under(header, place) and there[1] == place:
        shared = table.solo.get(room)
        if shared is None or os.path.basename(header) in shared or (
                stem(header) == stem(path)):
            return ""
        return (f"a file of {room} may include no sibling but "
                f"{' '.join(shared)} and its own header")
    if any(under(header, item) for item in allowed):
        return ""
    rule = " ".join(allowed) or "nothing of ours"
    return f"room {room} may not include room {there[0]} (it may: {rule})"


def check(root=tree.ROOT):
    """(faults, number of files)."""
    table = Table(tree.rows(root, TABLE))
    faults = list(table.faults)
    sources = [f for f in tree.files(root)
               if f.endswith((".h", ".cc", ".c", ".inc"))]
    for path in sources:
        if table.room_of(path) is None:
            faults.append(f"{path}: lies in no room of {TABLE}")
            continue
        for number, line in enumerate(tree.read(root, path).splitlines(), 1):
            match = INCLUDE.match(line)
            why = fault_of(table, path, match.group(2)) if match else ""
            if why:
                faults.append(f"{path}:{number}: includes {match.group(2)}: "
                              f"{why}")
    return faults, len(sources)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    faults, seen = check(parser.parse_args().root)
    return tree.report("layers", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
