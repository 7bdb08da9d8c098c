"""The whole story: from models and options to a report."""

from factorcomp.verification.story import verify as verify
