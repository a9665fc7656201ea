"""The papers' tables as data; reproducing, comparing and analysing models."""
