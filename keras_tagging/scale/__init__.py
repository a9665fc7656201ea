"""Annotating on Ray Data: more text than one process can.

Rows are read (`reading`), annotated by actors that have loaded the model (`actors`),
and written in the order of the input (`files`). `dataset` annotates a dataset of Ray.
"""
