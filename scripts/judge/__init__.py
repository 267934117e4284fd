"""The reference judge: question, reference answer and candidate answer to yes, no or none."""
