"""Models, local or behind a server: what every command that asks one is built on."""
