"""The `lookcheck` command: one module or package per subcommand."""
