"""A few derivations that have every kind of step."""

from ccg.trees import leaf, tree

from keras_tagging.ccg import Derivation

TV, VP, ADV = r"(S[dcl]\NP)/NP", r"S[dcl]\NP", r"(S\NP)\(S\NP)"


def noun(word):
    return tree("NP", f"{word}|N")


def derivations():
    cakes = tree("NP", "the|NP/N", tree("N", "old|N/N", "cakes|N", head=1))
    eat = tree(VP, tree(VP, f"eat|{TV}", cakes), f"often|{ADV}")
    we = tree("S[dcl]", noun("We"), tree(VP, eat, ".|."), head=1)
    raised = tree(r"S/(S\NP)", noun("she"))
    bakes = tree("S[dcl]/NP", raised, f"bakes|{TV}", head=1)
    relative = tree(r"N\N", r"that|(N\N)/(S[dcl]/NP)", bakes)
    both = tree("NP[conj]", "and|conj", noun("tea"), head=1)
    things = tree("NP", tree("NP", tree("N", "cakes|N", relative)), both)
    return [
        Derivation(we),
        Derivation(things),
        Derivation(tree("S[dcl]", noun("We"), tree(VP, f"eat|{TV}", noun("it")))),
        Derivation(noun("Tea")),
        Derivation(leaf("Why|S")),
    ]
