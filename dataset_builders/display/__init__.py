"""What a data set shows of its rows: items, pictures, overlays; the page is `lookcheck.scripts.view`'s."""
