"""What every data set shares: a plan of Parquet files becomes a folder that the Hub can show.

Modules: `plan` (what to write), `mapping` (rows made in several processes), `encoding` and
`shards` (Parquet), `card` (README.md and eval.yaml), `writer` (the folder as a whole) and
`check` (the rules a built folder must keep). Nothing is imported here, so that the processes that
make rows stay light.
"""
