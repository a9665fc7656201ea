"""Small sound files of each text format, written by hand."""

CONLL = """\
# newdoc
The\tD\tdet
café\tN\tobj
's\tPOS\tcase
1984\tM\tnum

Łódź\tP\tnmod
(\tPUNCT\t(
naïve\tJ\tamod
#\tSYM\tobj

# a comment
x\tX\tX
"\t''\tpunct
"""
AUTO = """\
ID=wsj_0001.1 PARSER=GOLD NUMPARSE=1
(<T S[dcl] 0 2> (<T NP 0 1> (<L N NNP NNP Vinken N>) ) (<L S[dcl]\\NP VBZ VBZ is \
S[dcl]\\NP_1>) )
# a comment
ID=wsj_0001.2 PARSER=GOLD NUMPARSE=1
(<T NP 1 2> (<L NP[nb]/N DT DT the NP[nb]_2/N_2>) (<T N 1 2> (<L N/N JJ JJ naïve \
N_3/N_3 {join.01:ARG0}>) (<L N NN NN café N>) ) )
ID=wsj_0001.3 PARSER=GOLD NUMPARSE=1
(<L N NN NN 10\\/2 N>)
"""
MRG = """\
( (S
    (NP-SBJ (DT The) (JJ naïve) (NN cat))
    (VP (VBZ sees) (NP (-NONE- *T*-1)))
    (. .)))
(ROOT (NP (NNP 東京) (-LRB- -LRB-) (CD 1\\/2) (-RRB- -RRB-)))
(TOP (S (NP (PRP It))
  (VP (VBD|VBN was))))
"""
POS = """\
*x*x*x*x*
======================================

[ The/DT cat/NN ]
sees/VBZ 
[ it/PRP 's/VBZ|POS ]
./. ''/''

[ 東京/NNP ]
is/VBZ 1\\/2/CD (/( far/RB )/) ./.
======================================
no/DT end/NN
"""
JSONL = """\
{"tokens": ["Show", "me", "caf\\u00e9"], "tags": ["V", "P", "N"], "head": [0, 1, 1]}
{"tokens": []}

{"x": {"y": [1.5, null]}, "tags": null, "tokens": ["日本", "", "a b"], "pos": ["1", \
"2", "3"]}
{"tokens": ["\\ud83d\\ude00", 12], "tags": ["O", "O"]}
"""
JSON_OBJECTS = """\
{"text": "Ada errs.", "tokens": [{"text": "Ada", "start": 0, "end": 3}, {"text": \
"errs", "start": 4, "end": 8}], "spans": [{"start": 0, "end": 3, "label": "PER"}], \
"answer": "accept"}
{"text": "In the-U.S. caf\\u00e9", "label": [[7, 11, "LOC"], [0, 2, "P"]]}
{"text": "NYC2", "entities": [{"start_offset": 0, "end_offset": 3, "label": "L"}]}
{"tokens": [{"text": "don't", "words": [{"id": 1, "text": "do", "upos": "AUX", "head": \
0, "tag": "O"}, {"id": 2, "text": "n't", "upos": "PART", "head": 1, "tag": "O"}]}]}
"""
CSV = """\
sentence,id,text,start,end,upos,head,ner
1,1,Ada,0,3,PROPN,2,B-PER
1,2,"a,""b"" c",4,8,X,0,O
,3,caf\u00e9,,,NOUN,,O
2,1,Yes,9,12,INTJ,0,O
"""
CONLLU = """\
# newdoc id = a
# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\tV\tMood=Imp\t0\troot\t_\t_
2\tnos\tnosotros\tPRON\tP\tCase=Acc\t1\tobj\t_\t_
3\tal\ta\tADP\t_\t_\t4\tcase\t_\tSpaceAfter=No
3.1\tx\t_\t_\t_\t_\t_\t_\t1:x\t_
4\tmar\tmar\tNOUN\t_\t_\t1\tobl\t_\t_

1\tSí\tsí\tINTJ\t_\t_\t0\troot\t_\t_

# text = b c
1\tb\tb\tX\tXX\t_\t2\tdep\t_\t_
2\tc\tc\tX\tXX\t_\t0\troot\t_\t_

"""
CATEGORIES = [
    r"(S[dcl]\NP)/NP",
    r"((S[to]_20\NP_10)/(S[b]_30\NP_10:B))",
    r"(s:dcl\np)/np",
    "NP[nb]/N",
    "conj",
    "(S/S)[conj]",
    "N[num=sg,x]",
    ".",
]
ROWS = "BOS\tO\nfly\tO\nboston\tB-city\nEOS\tatis_flight\n\nto\tO\nnew\tB-city\n"
#: tried with every reader; what has taken minutes, and numbers that Python refuses
NASTY = [
    b"",
    b"\n \n\n",
    b"\xef\xbb\xbf",
    b"\0" * 100,
    b"\r".join(b"word%d\tN" % n for n in range(20)),
    b"a b c " * 8_000,
    b"(<L " * 24_000,
    b"((A " * 8_000 + b"x" + b"))" * 8_000,
    b"[ " + b"/" * 80_000,
    b"e" + "\u0301\u0345".encode() * 20_000 + b"\tN\n",
    b"(<T S 0 " + b"9" * 5000 + b"> (<L N A A w N>) )\n",
    b"1 |S0 " + b"9" * 5000 + b":1 |S2 1:1\n",
    b"1 " + b"|S0 1:1 |# a " * 8_000 + b"\n",
    b'{"tokens": ["a"], "tags": ["N"], "\\ud800": ["x"]}\n',
    b'{"tokens": [' + b"[" * 80_000,
]
