"""What lies under everything else: errors, JSON, records joined by id, masks, images, processes.

Nothing here knows a data set, a Parquet file or a command.
"""
