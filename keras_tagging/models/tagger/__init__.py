"""Taggers: what they learn, how they learn it, and what they predict."""
