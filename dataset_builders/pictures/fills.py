"""Colours that vary over a region: light from above left, wood, grass, sky."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from PIL import Image

from lookcheck.dataset_builders.pictures.canvas import Colour, Fill, seed


def mixed(a: Colour, b: Colour, share: float) -> Colour:
    """`a` with the given share of `b`."""
    r, g, blue = (round(p + (q - p) * share) for p, q in zip(a, b, strict=True))
    return r, g, blue


def lighter(colour: Colour, share: float = 0.3) -> Colour:
    """Towards white."""
    return mixed(colour, (255, 255, 255), share)


def darker(colour: Colour, share: float = 0.3) -> Colour:
    """Towards black."""
    return mixed(colour, (0, 0, 0), share)


def across(a: Colour, b: Colour, start: float, end: float) -> Fill:
    """From `a` at x = start to `b` at x = end."""
    return lambda x, y: _blend(a, b, (x - start) / (end - start))


def down(a: Colour, b: Colour, start: float, end: float) -> Fill:
    """From `a` at y = start to `b` at y = end."""
    return lambda x, y: _blend(a, b, (y - start) / (end - start))


def tube(colour: Colour, left: float, right: float, *, upright: bool = True) -> Fill:
    """A round rod with a light stripe at its first third."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        t = np.clip(((x if upright else y) - left) / (right - left), 0, 1)
        light = np.exp(-(((t - 0.3) / 0.16) ** 2)) * 0.55 - np.clip(t - 0.45, 0, 1) * 0.75
        light -= np.clip(0.14 - t, 0, 1) * 1.2
        return _lit(colour, light)

    return fill


def ball(colour: Colour, cx: float, cy: float, radius: float) -> Fill:
    """A ball: light from above left, dark below right."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u, v = (x - cx) / radius, (y - cy) / radius
        z = np.sqrt(np.clip(1 - u * u - v * v, 0, 1))
        lambert = (-0.5 * u - 0.6 * v + 0.62 * z) / 0.998
        shine = np.clip(lambert, 0, 1) ** 18 * 0.65
        return _lit(colour, np.clip(lambert, -0.2, 1) * 0.75 - 0.52 + shine)

    return fill


def soft(colour: Colour, name: str, amount: float = 0.06, size: float = 24) -> Fill:
    """One colour with faint clouds of the given size in pixels."""
    return lambda x, y: _lit(colour, (_noise(name, size, size)(x, y) - 0.5) * 2 * amount)


def wood(colour: Colour, name: str) -> Fill:
    """Boards seen from above or a table's edge: grain along x."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        fibres = _noise(name + "f", 90, 2.2)(x, y) - 0.5
        waves = _noise(name + "w", 160, 14)(x, y) - 0.5
        rings = np.sin(y / 5 + waves * 16)
        return _lit(colour, fibres * 0.22 + rings * 0.05 + waves * 0.16)

    return fill


def grass(colour: Colour, name: str) -> Fill:
    """A lawn: upright blades, patches."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        blades = _noise(name + "b", 1.6, 7)(x, y) - 0.5
        patches = _noise(name + "p", 70, 40)(x, y) - 0.5
        return _lit(colour, blades * 0.5 + patches * 0.3)

    return fill


def water(colour: Colour, name: str) -> Fill:
    """Flat waves that grow towards the viewer."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        waves = _noise(name + "w", 36, 3)(x, y) - 0.5
        swell = _noise(name + "s", 120, 12)(x, y) - 0.5
        return _lit(colour, waves * 0.35 + swell * 0.25)

    return fill


def clouded(top: Colour, low: Colour, horizon: float, name: str, share: float = 0.6) -> Fill:
    """A sky that pales towards the horizon, with clouds."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        sky = _blend(top, low, y / horizon)
        clouds = _noise(name + "1", 150, 48)(x, y) * 0.6 + _noise(name + "2", 46, 20)(x, y) * 0.4
        cover = np.clip((clouds - 0.52) * 5, 0, 1)[..., None] * share
        return np.asarray(sky + cover * (250 - sky))

    return fill


def _blend(a: Colour, b: Colour, share: np.ndarray) -> np.ndarray:
    t = np.clip(share, 0, 1)[..., None]
    return np.asarray(np.array(a, float) * (1 - t) + np.array(b, float) * t)


def _lit(colour: Colour, light: np.ndarray) -> np.ndarray:
    """Towards white where `light` is above 0, towards black below."""
    base = np.array(colour, float)
    t = np.clip(light, -1, 1)[..., None]
    lit: np.ndarray = np.where(t > 0, base + (255 - base) * t, base * (1 + t))
    return lit


def _noise(name: str, width: float, height: float) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Smooth noise from 0 to 1 with bumps of the given size in pixels."""

    def fill(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        field = _field(name, width, height)
        shown: np.ndarray = field[y.astype(int) % field.shape[0], x.astype(int) % field.shape[1]]
        return shown

    return fill


@lru_cache(maxsize=16)
def _field(name: str, width: float, height: float) -> np.ndarray:
    coarse = (int(np.ceil(512 / height)) + 2, int(np.ceil(704 / width)) + 2)
    values = np.random.default_rng(seed(name)).random(coarse).astype(np.float32)
    field = Image.fromarray(values).resize((704, 512), Image.Resampling.BICUBIC)
    clipped: np.ndarray = np.clip(np.asarray(field, dtype=float), 0, 1)
    return clipped
