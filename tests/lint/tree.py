"""The files of the repository, as every lint sees them."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CPP = (".h", ".cc")


def git(root, *arguments):
    """Lines that a git command prints, or None where git cannot answer."""
    done = subprocess.run(
        ["git", "-c", f"safe.directory={root}", "-C", root, *arguments],
        capture_output=True, text=True, check=False)
    return done.stdout.splitlines() if done.returncode == 0 else None


def files(root=ROOT):
    """All files that are tracked or could be, relative to `root`, sorted."""
    found = None
    if os.path.exists(os.path.join(root, ".git")):
        found = git(root, "ls-files", "-co", "--exclude-standard")
    if found is None:
        found = []
        for folder, folders, names in os.walk(root):
            folders[:] = [f for f in folders if f not in ("build", ".git")]
            found += [os.path.relpath(os.path.join(folder, name), root)
                      for name in names]
    return sorted(f for f in set(found)
                  if os.path.isfile(os.path.join(root, f)))


def changed(root=ROOT):
    """Files that differ from the last commit, or in it where none does.

    Without a commit to compare with every file is changed.
    """
    everything = files(root)
    if not git(root, "rev-parse", "--verify", "-q", "HEAD"):
        return everything
    new = set(git(root, "diff", "--name-only", "HEAD") or [])
    new |= set(git(root, "ls-files", "-o", "--exclude-standard") or [])
    if not new:
        if not git(root, "rev-parse", "--verify", "-q", "HEAD~1"):
            return everything
        new = set(git(root, "diff", "--name-only", "HEAD~1", "HEAD") or [])
    return [f for f in everything if f in new]


def is_cpp(path):
    return path.endswith(CPP)


def is_test(path):
    """Whether a C++ file is beside the code for its tests and measurements:
    x_test.cc, x_fuzz.cc, x_bench.cc, and headers test_x.h and x_test_y.h."""
    name = os.path.basename(path)
    return name.endswith(("_test.cc", "_fuzz.cc", "_bench.cc")) or (
        name.endswith(".h") and (name.startswith("test_") or
                                 "_test_" in name))


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8",
              errors="surrogateescape") as file:
        return file.read()


def rows(root, path):
    """The rows of a table: fields by white space, '#' starts a comment."""
    if not os.path.exists(os.path.join(root, path)):
        return []
    lines = (line.split("#")[0].split() for line in
             read(root, path).splitlines())
    return [line for line in lines if line]


def report(name, faults, seen):
    """Prints each fault and a closing line; the lint's exit code."""
    for fault in faults:
        print(f"{name}: {fault}")
    print(f"{name}: {seen} files, {len(faults)} faults")
    return 1 if faults else 0
