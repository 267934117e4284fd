"""The back end `transformers`: a vision-language model on this machine, or one that cannot see."""
