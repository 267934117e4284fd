"""index.html: one file that holds the rows' texts, the style and the script."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from typing import Any

import jinja2
from markupsafe import Markup

from lookcheck.dataset_builders.display.items import Item
from lookcheck.dataset_builders.display.media import FOLDER

SCRIPTS = ("model.js", "grid.js", "detail.js", "start.js")


def render_page(title: str, about: str, items: Sequence[Item], described: Mapping[str, Any]) -> str:
    """Render the page.

    Nothing in the rows can run: they stand in the page as JSON whose ``<``, ``>``, ``&`` and ``'``
    are escaped, the script writes them as text, and a content security policy allows this script
    and this style alone, by their hashes, and pictures from beside the page.

    Parameters
    ----------
    title, about : str
    items : sequence of Item
    described : mapping
        What else the script needs: ``facets``, ``orders``, ``noun``, ``nouns``, ``pictureFacet``.

    Returns
    -------
    str
    """
    style = _asset("style.css")
    script = "\n".join(map(_asset, SCRIPTS))
    policy = (
        "default-src 'none'; img-src 'self' file: data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    # ASCII alone, so that no character of a row can end a line or the script element.
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": True, "separators": (",", ":")}
    return environment.from_string(_asset("page.html.jinja")).render(
        title=title,
        about=about,
        media=FOLDER,
        # Both are files of this package and hold no value of a row.
        style=Markup(style),
        script=Markup(script),
        policy=Markup(policy),
        data={"title": title, **described, "items": [item.to_json() for item in items]},
    )


def _asset(name: str) -> str:
    return files("lookcheck.scripts.view").joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(sha256(text.encode()).digest()).decode()}'"
