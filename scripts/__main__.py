from lookcheck.scripts.cli import main

main()
