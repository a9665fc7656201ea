"""Annotating more text than one process can: shards, and Ray Data, which spreads them.

Inputs are cut into shards (`shards`), each of which becomes one file of a folder
(`folder`). A worker annotates a shard (`worker`), Ray Data gives shards to workers and
replaces those that die (`cluster`), and in the end each shard is compared with its
input (`checking`). `dataset` annotates a dataset of Ray.
"""
