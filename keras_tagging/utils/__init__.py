"""Helpers for all rooms: limits, checks, atomic files, seeds."""
