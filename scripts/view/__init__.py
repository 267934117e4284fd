"""`lookcheck view`: look through a built folder.

Modules: `folder` (reads a built folder), `items` (what the page shows of a row), `vistaqa`,
`salart_vqa` and `perturbed_pope` (from rows to items), `media` (picture files of the page), `page`
(index.html), `sheet` (a contact sheet) and `gallery` (all of it, or nothing).
"""
