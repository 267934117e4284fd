"""`lookcheck view`: look through a built folder.

Modules: `page` (index.html), `sheet` (a contact sheet), `lettering` (its texts) and `gallery` (all of it, or
nothing). How rows become items is each data set's; items and their pictures are `dataset_builders.display`'s.
"""
