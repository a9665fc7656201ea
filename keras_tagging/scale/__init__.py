"""Annotating on Ray Data: more text than one process can.

`dataset` annotates a dataset of Ray by actors that have loaded the model. Rows of files
are read (`reading`) and written in the order of the input (`files`).
"""
