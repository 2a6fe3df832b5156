"""Pictures of digits, drawn by code: the data of the sample network."""
import numpy as np

SIDE = 12
GLYPHS = (
    ".###. #...# #...# #...# #...# #...# .###.",
    "..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.",
    ".###. #...# ....# ...#. ..#.. .#... #####",
    ".###. #...# ....# ..##. ....# #...# .###.",
    "...#. ..##. .#.#. #..#. ##### ...#. ...#.",
    "##### #.... ####. ....# ....# #...# .###.",
    ".###. #.... #.... ####. #...# #...# .###.",
    "##### ....# ...#. ..#.. .#... .#... .#...",
    ".###. #...# #...# .###. #...# #...# .###.",
    ".###. #...# #...# .#### ....# ....# .###.",
)


def bitmap(digit):
    return np.array([[c == "#" for c in row]
                     for row in GLYPHS[digit].split()], np.float64)


def sampled(picture, rows, columns):
    """Bilinear samples of `picture`, zero outside of it."""
    picture = np.pad(picture, 1)
    rows = np.clip(rows + 1, 0, picture.shape[0] - 1.001)
    columns = np.clip(columns + 1, 0, picture.shape[1] - 1.001)
    r, c = rows.astype(int), columns.astype(int)
    fr, fc = rows - r, columns - c
    return ((picture[r, c] * (1 - fc) + picture[r, c + 1] * fc) * (1 - fr) +
            (picture[r + 1, c] * (1 - fc) + picture[r + 1, c + 1] * fc) * fr)


def draw(digit, rng):
    """One picture: the glyph turned, sheared, scaled, moved, with noise."""
    angle, shear = rng.normal(0, 0.13), rng.normal(0, 0.12)
    height, width = rng.uniform(1.1, 1.5), rng.uniform(1.2, 1.9)
    grid = np.arange(SIDE) - (SIDE - 1) / 2
    y, x = np.meshgrid(grid - rng.uniform(-1, 1), grid - rng.uniform(-1, 1),
                       indexing="ij")
    rows = (np.cos(angle) * y + np.sin(angle) * x) / height + 3
    columns = (np.cos(angle) * x - np.sin(angle) * y + shear * y) / width + 2
    ink = sampled(bitmap(digit), rows, columns) * rng.uniform(0.6, 1)
    return np.clip(ink + rng.normal(0, 0.09, ink.shape), 0, 1)


def pictures(count, seed):
    """(float32 [count, 1, SIDE, SIDE] in steps of 1/255, int labels)."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 10, count)
    drawn = np.stack([draw(label, rng) for label in labels])[:, None]
    return (np.rint(drawn * 255) / 255).astype(np.float32), labels
