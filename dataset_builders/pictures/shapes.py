"""Regions of the plane by their signed distance: the same formula gives smooth edges and exact masks.

Coordinates are in pixels, x to the right and y down; pixel (row i, column j) has its centre at
(j + 0.5, i + 0.5). A pixel belongs to a region where the distance at its centre is below 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

Point = tuple[float, float]
Distance = Callable[[np.ndarray, np.ndarray], np.ndarray]

# Polygons and lines know their distance up to this many pixels: edges and outlines need no more.
REACH = 12.0


@dataclass(frozen=True)
class Region:
    """A part of the plane.

    Attributes
    ----------
    box : (float, float, float, float)
        Left, top, right and bottom of what it covers.
    distance : callable
        Of x, shape (1, W), and y, shape (H, 1), both rising: distance to the edge in pixels, shape
        (H, W), negative inside.
    """

    box: tuple[float, float, float, float]
    distance: Distance

    def __or__(self, other: Region) -> Region:
        a, b = self.box, other.box
        box = (min(a[0], b[0]), min(a[1], b[1]), max(a[2], b[2]), max(a[3], b[3]))
        return Region(box, lambda x, y: np.minimum(self.distance(x, y), other.distance(x, y)))

    def __and__(self, other: Region) -> Region:
        a, b = self.box, other.box
        box = (max(a[0], b[0]), max(a[1], b[1]), min(a[2], b[2]), min(a[3], b[3]))
        return Region(box, lambda x, y: np.maximum(self.distance(x, y), other.distance(x, y)))

    def __sub__(self, other: Region) -> Region:
        return Region(self.box, lambda x, y: np.maximum(self.distance(x, y), -other.distance(x, y)))

    def grown(self, by: float) -> Region:
        """Wider by `by` pixels on all sides; negative shrinks."""
        left, top, right, bottom = self.box
        return Region((left - by, top - by, right + by, bottom + by), lambda x, y: self.distance(x, y) - by)

    def moved(self, dx: float, dy: float) -> Region:
        """Shifted by (dx, dy) pixels."""
        left, top, right, bottom = self.box
        return Region(
            (left + dx, top + dy, right + dx, bottom + dy), lambda x, y: self.distance(x - dx, y - dy)
        )

    def outline(self, width: float) -> Region:
        """The band of `width` pixels that lies half on each side of the edge."""
        half = width / 2
        return Region(self.grown(half).box, lambda x, y: np.abs(self.distance(x, y)) - half)


def ellipse(cx: float, cy: float, rx: float, ry: float | None = None, degrees: float = 0) -> Region:
    """An ellipse, turned clockwise by `degrees`; a disc without `ry`."""
    ry = rx if ry is None else ry
    angle = np.deg2rad(degrees)
    cos, sin = float(np.cos(angle)), float(np.sin(angle))
    half_w, half_h = float(np.hypot(rx * cos, ry * sin)), float(np.hypot(rx * sin, ry * cos))

    def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u, v = (x - cx) * cos + (y - cy) * sin, (y - cy) * cos - (x - cx) * sin
        if rx == ry:
            return np.hypot(u, v) - rx
        # First-order distance: its sign is exact, its size good near the edge.
        level = np.hypot(u / rx, v / ry)
        slope = np.hypot(u / rx**2, v / ry**2)
        return np.where(slope > 0, level * (level - 1) / np.maximum(slope, 1e-12), -min(rx, ry))

    return Region((cx - half_w, cy - half_h, cx + half_w, cy + half_h), distance)


def rectangle(left: float, top: float, right: float, bottom: float, radius: float = 0) -> Region:
    """An upright rectangle with rounded corners."""
    cx, cy = (left + right) / 2, (top + bottom) / 2
    a, b = (right - left) / 2 - radius, (bottom - top) / 2 - radius

    def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u, v = np.abs(x - cx) - a, np.abs(y - cy) - b
        outside = np.hypot(np.maximum(u, 0), np.maximum(v, 0))
        return outside + np.minimum(np.maximum(u, v), 0) - radius

    return Region((left, top, right, bottom), distance)


def polygon(points: Sequence[Point]) -> Region:
    """A closed polygon, even-odd where it crosses itself; distances are cut off at `REACH`."""
    corners = np.array(points, float)
    before = np.roll(corners, 1, axis=0)

    def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        inside = np.zeros(np.broadcast(x, y).shape, bool)
        for (ax, ay), (bx, by) in zip(before, corners, strict=True):
            if ay != by:
                # Only rows between the two ends are crossed.
                low, high = np.searchsorted(y[:, 0], sorted((ay, by)))
                rows = y[low:high]
                inside[low:high] ^= x < ax + (rows - ay) / (by - ay) * (bx - ax)
        nearest = _to_edges(x, y, zip(before, corners, strict=True))
        return np.where(inside, -nearest, nearest)

    return Region(_box(corners), distance)


def blob(points: Sequence[Point], steps: int = 8) -> Region:
    """A closed smooth outline (Catmull-Rom) through the points."""
    p = np.array(points, float)
    before, after, later = np.roll(p, 1, axis=0), np.roll(p, -1, axis=0), np.roll(p, -2, axis=0)
    t = np.linspace(0, 1, steps, endpoint=False)[None, :, None]
    a, b, c, d = (array[:, None, :] for array in (before, p, after, later))
    curve = 0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
    return polygon([(float(x), float(y)) for x, y in curve.reshape(-1, 2)])


def line(points: Sequence[Point], width: float) -> Region:
    """An open line with round ends and joints."""
    corners = np.array(points, float)

    def distance(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        nearest = _to_edges(x, y, pairwise(corners), width / 2 + REACH)
        return nearest - width / 2

    left, top, right, bottom = _box(corners)
    half = width / 2
    return Region((left - half, top - half, right + half, bottom + half), distance)


def arc(cx: float, cy: float, radius: float, start: float, end: float, width: float = 0) -> Region:
    """A circular line from `start` to `end` degrees, clockwise from the right; filled to the centre
    (a sector) without a width."""
    count = max(2, int(abs(end - start) / 3) + 1)
    angles = np.deg2rad(np.linspace(start, end, count))
    if width:
        return line([(float(cx + radius * np.cos(a)), float(cy + radius * np.sin(a))) for a in angles], width)
    # Past the rim between its points: cut to the disc, so that the rim is round.
    reach = radius * 1.1
    points = [(cx, cy), *((float(cx + reach * np.cos(a)), float(cy + reach * np.sin(a))) for a in angles)]
    return polygon(points) & ellipse(cx, cy, radius)


@dataclass(frozen=True)
class Frame:
    """A place to draw at, in units of a thing's size: (0, 0) lies at (x, y), 1 is `size` pixels.

    Examples
    --------
    >>> Frame(10, 20, 4).points("0,0 1,-0.5")
    [(10.0, 20.0), (14.0, 18.0)]
    """

    x: float
    y: float
    size: float
    mirror: bool = False
    degrees: float = 0

    def at(self, u: float, v: float) -> Point:
        """Pixel coordinates of (u, v)."""
        angle = np.deg2rad(self.degrees)
        cos, sin = float(np.cos(angle)), float(np.sin(angle))
        u, v = u * self.size * (-1 if self.mirror else 1), v * self.size
        return self.x + u * cos - v * sin, self.y + u * sin + v * cos

    def points(self, outline: str) -> list[Point]:
        """Pixel coordinates of points ``u,v`` that are separated by blanks."""
        pairs = (point.split(",") for point in outline.split())
        return [self.at(float(u), float(v)) for u, v in pairs]

    def both(self, outline: str) -> list[Point]:
        """The left side of a symmetric outline and its mirror image in the axis u = 0."""
        left = [(float(u), float(v)) for u, v in (point.split(",") for point in outline.split())]
        return [self.at(u, v) for u, v in [*left, *((-u, v) for u, v in reversed(left))]]

    def polygon(self, outline: str) -> Region:
        """See `polygon`."""
        return polygon(self.points(outline))

    def blob(self, outline: str) -> Region:
        """See `blob`."""
        return blob(self.points(outline))

    def line(self, outline: str, width: float) -> Region:
        """See `line`; at least 1.2 pixels wide."""
        return line(self.points(outline), max(1.2, width * self.size))

    def ellipse(self, u: float, v: float, ru: float, rv: float | None = None, degrees: float = 0) -> Region:
        """See `ellipse`."""
        rv = ru if rv is None else rv
        turned = self.degrees + (-degrees if self.mirror else degrees)
        return ellipse(*self.at(u, v), ru * self.size, rv * self.size, turned)

    def rectangle(self, left: float, top: float, right: float, bottom: float, radius: float = 0) -> Region:
        """See `rectangle`; not for frames that are turned."""
        (ax, ay), (bx, by) = self.at(left, top), self.at(right, bottom)
        return rectangle(min(ax, bx), ay, max(ax, bx), by, radius * self.size)


def _to_edges(
    x: np.ndarray, y: np.ndarray, edges: Iterable[tuple[np.ndarray, np.ndarray]], reach: float = REACH
) -> np.ndarray:
    """Distance to the nearest edge, at most `reach`: each edge looks at its own neighbourhood only."""
    nearest = np.full(np.broadcast(x, y).shape, float(reach))
    for (ax, ay), (bx, by) in edges:
        left, right = np.searchsorted(x[0], (min(ax, bx) - reach, max(ax, bx) + reach))
        top, bottom = np.searchsorted(y[:, 0], (min(ay, by) - reach, max(ay, by) + reach))
        if left == right or top == bottom:
            continue
        u, v = x[:, left:right] - ax, y[top:bottom] - ay
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy
        t = 0.0 if length == 0 else np.clip((u * dx + v * dy) / length, 0, 1)
        window = nearest[top:bottom, left:right]
        np.minimum(window, np.hypot(u - t * dx, v - t * dy), out=window)
    return nearest


def _box(points: np.ndarray) -> tuple[float, float, float, float]:
    (left, top), (right, bottom) = points.min(axis=0), points.max(axis=0)
    return float(left), float(top), float(right), float(bottom)
