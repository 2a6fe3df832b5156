#!/usr/bin/env python3
"""Finds code that stands in two places.

Usage: check_duplicates.py [--root DIR] [--lines N]
Compares runs of tokens (read by lizard) in which each identifier is replaced
by the number of its first appearance, so that renamed copies are found too.
Reported are runs over at least N lines (default 16) that stand twice in C++
files that are not tests. duplicate_exceptions.txt lists pairs of files that
are alike for a reason, `path path reason`; a row that covers nothing any more
is a fault.  Needs: lizard.
"""
import argparse
import collections
import os
import sys

from lizard_languages import CLikeReader

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree  # noqa: E402

TABLE = "tests/lint/duplicate_exceptions.txt"
LINES = 16
WINDOW = 60  # tokens that are compared at once
DISTINCT = 11  # fewer different signs and keywords are a table, not logic
KEYWORDS = set("""
alignas auto bool break case catch char class const constexpr continue default
delete do double else enum explicit extern false float for friend goto if inline
int long namespace new nullptr operator private protected public return short
signed sizeof static static_cast struct switch template this throw true try
typedef typename union unsigned using virtual void while
""".split())


def tokens(text):
    """[(token, line)] without comments, blanks and preprocessor lines."""
    found, line = [], 1
    for token in CLikeReader.generate_tokens(text):
        if not (token.isspace() or token.startswith(("//", "/*", "#"))):
            found.append((token, line))
        line += token.count("\n")
    return found


def shape(window):
    """The window with names numbered and literals left out."""
    names, result = {}, []
    for token, _ in window:
        first = token[0]
        if (first.isalpha() or first == "_") and token not in KEYWORDS:
            token = names.setdefault(token, len(names))
        elif first.isdigit() or first in "\"'":
            token = "1"
        result.append(token)
    return tuple(result)


def windows(root, paths):
    """{shape: [(path, number of the line start, first line, last line)]}."""
    places = collections.defaultdict(list)
    for path in paths:
        found = tokens(tree.read(root, path))
        starts = [i for i, (_, line) in enumerate(found)
                  if i == 0 or found[i - 1][1] != line]
        for number, start in enumerate(starts):
            window = found[start:start + WINDOW]
            if len(window) < WINDOW:
                break
            key = shape(window)
            if len({t for t in key if isinstance(t, str)}) >= DISTINCT:
                places[key].append((path, number, window[0][1],
                                    window[-1][1]))
    return places


def duplicates(root, paths, lines):
    """[(first, second)], each a (path, first line, last line)."""
    runs = {}  # (path, path, distance of the line starts) -> windows in a row
    for group in windows(root, paths).values():
        for i, a in enumerate(group):
            for b in group[i + 1:]:
                key = (a[0], b[0], b[1] - a[1])
                runs.setdefault(key, []).append((a, b))
    found = []
    for pairs in runs.values():
        pairs.sort(key=lambda pair: pair[0][1])
        start = 0
        for i in range(1, len(pairs) + 1):
            if i < len(pairs) and pairs[i][0][1] == pairs[i - 1][0][1] + 1:
                continue
            (a, b), (c, d) = pairs[start], pairs[i - 1]
            start = i
            first, second = (a[0], a[2], c[3]), (b[0], b[2], d[3])
            overlap = a[0] == b[0] and first[2] >= second[1]
            if not overlap and min(first[2] - first[1],
                                   second[2] - second[1]) + 1 >= lines:
                found.append((first, second))
    return largest(found)


def within(inner, outer):
    return (inner[0] == outer[0] and inner[1] >= outer[1] and
            inner[2] <= outer[2])


def largest(found):
    """Without the runs that lie inside longer ones of the same places."""
    kept = []
    for first, second in sorted(found, key=lambda run: run[0][1] - run[0][2]):
        if not any(within(first, a) and within(second, b) for a, b in kept):
            kept.append((first, second))
    return sorted(kept)


def check(root=tree.ROOT, lines=LINES):
    """(faults, number of files)."""
    paths = [f for f in tree.files(root)
             if tree.is_cpp(f) and not tree.is_test(f)]
    allowed = {frozenset(row[:2]): False for row in tree.rows(root, TABLE)}
    faults = []
    for first, second in duplicates(root, paths, lines):
        pair = frozenset((first[0], second[0]))
        if pair in allowed:
            allowed[pair] = True
            continue
        faults.append(f"{first[0]}:{first[1]}-{first[2]} and {second[0]}:"
                      f"{second[1]}-{second[2]} are the same code")
    faults += [f"{TABLE}: {' '.join(sorted(pair))} are no longer alike: "
               "drop the row" for pair, used in allowed.items() if not used]
    return faults, len(paths)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", default=tree.ROOT)
    parser.add_argument("--lines", type=int, default=LINES)
    args = parser.parse_args()
    faults, seen = check(args.root, args.lines)
    return tree.report("duplicates", faults, seen)


if __name__ == "__main__":
    sys.exit(main())
