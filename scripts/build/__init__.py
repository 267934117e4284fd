"""`lookcheck build`: write a data set as a folder for the Hub."""
