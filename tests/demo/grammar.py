"""The grammar of the demo corpus, written by hand.

A rule is `SYMBOL : weight parts | weight parts ...`; a part is `relation=SYMBOL`,
and `*SYMBOL` is the head, on which the others depend. To add a construction, add an
alternative. A symbol that no rule defines is a word class of `demo_lexicon`.

* `_` is the trace of a word that stands further to the left, `^=SYMBOL` that word:
  it receives the head and the relation of the trace. This is how "the book that he
  said she read" has `that` as the object of `read`, across `said`. Where no such
  word is, the noun to which a clause is attached as `acl` closes the trace.
* A rule with `<n>` is written once and read once for each value in `VARIABLES`.
* Weights are relative to the other alternatives of the same symbol.

What makes every category decidable from the whole sentence:

* A prepositional phrase is attached by its noun (`with` an instrument modifies the
  verb, `with` a property the noun), by its verb (`rely` selects `on`), or, for a
  place, by what precedes it: a noun, or an intransitive verb.
* Manner adverbs precede a finite verb only where the subject ends in a noun or
  pronoun, so that none stands between two verbs that it could modify.
* `SIMPLE` verb phrases end in no clause. Only they are coordinated or modified on the
  right, so that what follows a clause belongs to that clause.
"""

VARIABLES = {
    "n": ["sg", "pl"],
    "f": ["sg", "pl", "b", "pt", "ng"],  # verb forms; sg and pl are the finite ones
    "x": ["b", "pt", "ng"],
    "noun": ["person", "thing", "info", "event", "idea", "place"],
    "p": ["on", "of", "about"],  # prepositions that verbs select for anything
    "q": ["at", "to", "for", "with", "from"],  # ... and for persons
}

GRAMMAR = """
ROOT : 52 *S punct=period | 9 *Q punct=question | 11 *WQ punct=question
     | 4 *IMP punct=period

# Clauses
S : 50 *S1
  | 5 advmod=time.init punct=comma *S1 | 4 advmod=sentential punct=comma *S1
  | 10 obl=PP.init punct=comma *S1 | 9 advcl=CLAUSE.init punct=comma *S1
  | 13 *S.simple punct=comma conj=S.and
S.and : 1 cc=but *S1
S.simple : 1 nsubj=SUBJ.<n> *SIMPLE.<n>
S1 : 40 nsubj=SUBJ.<n> *VP.<n> | 4 nsubj=SUBJ.<n> *ADVERBIAL.<n>
   | 5 nsubj:pass=SUBJ.<n> *PASSIVE.<n> | 5 nsubj=NP.rel.<n> *VP.<n>
   | 3 expl=there *be.there.<n> nsubj=NP.full.<n> | 3 nsubj=FREE *VP.sg
   | 2 nsubj=this *COPULAR.sg | 2 nsubj=these *COPULAR.pl
COPULAR.<n> : 1 cop=be.np.<n> *NP.full.<n>
ADVERBIAL.<f> : 1 advmod=manner.pre *SIMPLE.<f>
FREE : 2 *what.free.subj acl:relcl=VP.sg | 3 *what.free.obj acl:relcl=GAP
IMP : 1 *SIMPLE.b
CLAUSE.init : 3 mark=because.init *S.simple | 1 mark=before.ng.init *SIMPLE.ng
CLAUSE.post : 3 mark=because *S.simple | 1 mark=before.ng *SIMPLE.ng
S.that : 1 mark=that *S1
S.whether : 1 mark=whether *S1
TO : 1 mark=to *VP.b

# Questions
Q : 3 aux=do.q.<n> nsubj=SUBJ.<n> *VP.b | 2 aux=modal.q nsubj=SUBJ.<n> *VP.b
  | 2 aux=have.q.<n> nsubj=SUBJ.<n> *VP.pt | 2 aux=be.ng.q.<n> nsubj=SUBJ.<n> *VP.ng
  | 1 cop=be.adj.q.<n> nsubj=SUBJ.<n> *ADJ.pred
  | 1 aux:pass=be.pss.q.<n> nsubj:pass=SUBJ.<n> *PSS
WQ : 3 nsubj=what.subj *VP.sg | 2 nsubj=WHICH.subj.<n> *VP.<n>
   | 5 ^=what.obj *Q.gap | 2 ^=WHICH.obj *Q.gap | 4 advmod=when.q *Q
WHICH.subj.<n> : 1 det=which.q.subj *NBAR.<n>
WHICH.obj : 1 det=which.q.obj *NBAR.<n>
Q.gap : 3 aux=do.q.<n> nsubj=SUBJ.<n> *GAP.b | 2 aux=modal.q nsubj=SUBJ.<n> *GAP.b
      | 1 aux=have.q.<n> nsubj=SUBJ.<n> *GAP.pt
      | 1 aux=be.ng.q.<n> nsubj=SUBJ.<n> *GAP.ng

# Clauses and verb phrases without an object: `GAP` as a whole, `GAP.f` its verb phrase
GAP : 1 nsubj=SUBJ.<n> *GAP.<n>
GAP.<f> : 8 *trans.<f> obj=_ | 1 *ditr.<f> iobj=SIMPLEOBJ obj=_
        | 1 *want.<f> xcomp=GAP.to | 1 *dcl.<f> ccomp=GAP | 1 *em.<f> ccomp=GAP.that
        | 1 *<p>.<f> case=pp.<p> obl=_ | 1 *<q>.<f> case=pp.<q> obl=_
GAP.<n> : 2 aux=modal *GAP.b | 1 aux=do.<n> advmod=not *GAP.b
        | 2 aux=have.<n> *GAP.pt | 1 aux=be.ng.<n> *GAP.ng | 2 advmod=frequency *GAP.<n>
GAP.to : 1 mark=to *GAP.b
GAP.that : 1 mark=that *GAP

# Verb phrases
VP.<f> : 34 *SIMPLE.<f> | 18 *MODIFIED.<f> | 20 *COMPLEX.<f> | 9 *COORDINATED.<f>
VP.<n> : 7 aux=modal *VP.b | 4 aux=have.<n> *VP.pt | 4 aux=be.ng.<n> *VP.ng
       | 3 aux=do.<n> advmod=not *VP.b | 2 aux=modal advmod=not *VP.b
       | 6 advmod=frequency *VP.<n> | 5 cop=be.adj.<n> *ADJ.pred
       | 3 *COPULAR.<n>
VP.<x> : 4 *ADVERBIAL.<x>
VP.b : 2 aux=have.b *VP.pt | 2 cop=be.adj.b *ADJ.pred
VP.pt : 3 aux=be.ng.pt *VP.ng
COORDINATED.<f> : 1 *SIMPLE.<f> conj=VP.and.<f>
VP.and.<f> : 1 cc=and *SIMPLE.<f>
MODIFIED.<f> : 5 *SIMPLE.<f> advmod=MANNER | 3 *SIMPLE.<f> advmod=time.post
     | 5 *SIMPLE.<f> obl=PP.vp | 4 *SIMPLE.<f> advcl=CLAUSE.post
     | 3 *intr.<f> obl=PP.place
MANNER : 5 *manner.post | 1 advmod=degree.adv *manner.post
SIMPLE.<f> : 12 *intr.<f> | 20 *trans.<f> obj=OBJ
     | 3 *ditr.<f> iobj=SIMPLEOBJ obj=NP.det
     | 3 *dative.<f> obj=NP.det obl=PP.to | 2 *np_about.<f> obj=HUMAN obl=PP.about
     | 2 *put.<f> obj=NP.det obl=PP.in | 2 *own.<f> obj=NP.full.<n>
     | 1 *become.<f> xcomp=NP.full.sg | 1 *seem.<f> xcomp=ADJ.simple
     | 1 *<p>.<f> obl=PP.<p> | 1 *<q>.<f> obl=PP.<q>
COMPLEX.<f> : 6 *trans.<f> obj=NP.rel.<n> | 3 *em.<f> ccomp=S.that | 3 *dcl.<f> ccomp=S1
     | 4 *want.<f> xcomp=TO
COMPLEX.<n> : 2 *tell.<n> obj=HUMAN ccomp=S.that | 2 *qem.<n> ccomp=S.whether
     | 3 *force.<n> obj=HUMAN xcomp=TO | 2 *start.<n> xcomp=SIMPLE.ng
PASSIVE.<n> : 4 aux:pass=be.pss.<n> *PSS | 1 aux=modal aux:pass=be.pss.b *PSS
     | 1 aux=have.<n> aux:pass=be.pss.pt *PSS
     | 1 aux=be.ng.<n> aux:pass=be.pss.ng *PSS
PSS : 3 *PSS.simple | 3 *PSS.simple obl:agent=PP.by | 1 *PSS.simple obl=PP.vp
     | 1 *PSS.simple advmod=MANNER
PSS.simple : 6 *trans.pss | 1 *ditr.pss obj=NP.det | 1 *dative.pss obl=PP.to
     | 1 *put.pss obl=PP.in | 1 *force.pss xcomp=TO

# Adjectives
ADJ.pred : 3 *ADJ.simple | 1 *adj.of obl=PP.of | 1 *adj.to xcomp=TO
     | 1 *adj.em ccomp=S.that
ADJ.simple : 4 *adj.pred | 1 advmod=degree.pred *adj.pred
ADJ : 5 *adj | 1 advmod=degree *adj

# Prepositional phrases
PP.<p> : 1 case=pp.<p> *OBJ
PP.<q> : 1 case=pp.<q> *HUMAN
PP.in : 1 case=in.pp *PLACE
PP.by : 1 case=by *HUMAN
PP.place : 1 case=in.vp *PLACE
PP.vp : 4 case=with.vp *INSTRUMENT | 2 case=in.time *TIME | 2 case=on.time *DAY
      | 3 case=before *EVENT | 1 case=before *weekday | 2 case=for.time *UNITS
PP.init : 2 case=in.time.init *TIME | 1 case=on.time.init *DAY
      | 2 case=before.init *EVENT | 2 case=in.init *PLACE
PP.np : 4 case=in.np *PLACE | 4 case=with.np *PROPERTY | 4 case=of.np *NP.det
      | 2 case=from.np *city
TIME : 2 det=the *daypart | 2 *year
DAY : 3 *weekday | 1 compound=weekday.mod *daypart
PLACE : 3 det=the *place.sg | 1 *city | 1 det=poss *place.sg
EVENT : 3 det=det.sg *event.sg | 1 det=det.pl *event.pl | 1 det=poss *event.<n>
INSTRUMENT : 2 det=det.sg *instrument.sg | 1 det=poss *instrument.sg | 1 *instrument.pl
PROPERTY : 2 det=det.sg *property.sg | 1 amod=ADJ *property.pl | 1 *property.pl
UNITS : 1 nummod=NUMBER *unit.pl

# Noun phrases
SUBJ.<n> : 4 *NP.full.<n>
SUBJ.sg : 3 *he
SUBJ.pl : 3 *they
OBJ : 2 *him | 4 *NP.full.sg | 4 *NP.full.pl
SIMPLEOBJ : 3 *him | 1 *NAME | 2 det=det.sg *person.sg | 1 det=det.pl *person.pl
HUMAN : 3 *him | 2 *NAME | 2 det=det.sg *person.sg | 1 det=det.pl *person.pl
NP.full.<n> : 20 *NP.<n> | 8 *NP.pp.<n>
NP.full.pl : 2 *NP.sg conj=NP.and | 2 *NP.pl conj=NP.and
NP.and : 1 cc=and *NP.sg | 1 cc=and *NP.pl
NP.pp.<n> : 4 *DP.<n> nmod=PP.np
NP.pp.sg : 1 det=det.sg *info.sg nmod=PP.topic
NP.pp.pl : 1 *info.pl nmod=PP.topic | 1 *some nmod=PP.some
PP.topic : 1 case=about.np *NP.det
PP.some : 1 case=of.pp *NP.the
NP.the : 1 det=the *NBAR.pl
NP.sg : 3 *DP.sg | 2 *NAME
NP.pl : 4 *DP.pl | 2 *NBAR.pl | 1 *N.pl conj=N.and
NP.det : 1 *DP.sg | 1 *DP.pl
DP.<n> : 5 det=det.<n> *NBAR.<n> | 2 nmod:poss=poss *NBAR.<n>
     | 1 nmod:poss=OWNER *NBAR.<n>
OWNER : 2 *NAME case=poss.s | 1 det=the *person.sg case=poss.s
NBAR.<n> : 12 *N.<n> | 8 amod=ADJ *N.<n> | 1 amod=adj amod=adj *N.<n>
NBAR.pl : 4 nummod=NUMBER *N.pl
N.<n> : 1 *<noun>.<n> | 1 *person.<n>
N.<n> : 1 compound=material *thing.<n>
N.and : 1 cc=and *N.pl
NUMBER : 4 *number | 1 advmod=around *number
NAME : 3 *first | 3 *first.mod flat=surname | 3 *surname | 1 compound=title *surname

# Relative clauses
NP.rel.<n> : 2 *HUMAN.<n> acl:relcl=REL.who.<n> | 2 *THING.<n> acl:relcl=REL.which.<n>
     | 2 *HUMAN.<n> acl=SIMPLE.ng | 1 *THING.<n> acl=PSS.by
HUMAN.<n> : 1 det=det.<n> *person.<n>
THING.<n> : 1 det=det.<n> *thing.<n> | 1 det=det.<n> *info.<n>
REL.who.<n> : 3 nsubj=who.subj *VP.<n> | 3 ^=who.obj *GAP | 2 *GAP
     | 1 nsubj=WHOSE *VP.sg | 1 nsubj:pass=who.subj *PASSIVE.<n>
REL.which.<n> : 1 nsubj=which.subj *VP.<n> | 3 ^=which.obj *GAP | 2 *GAP
     | 1 nsubj:pass=which.subj *PASSIVE.<n>
WHOSE : 1 nmod:poss=whose *NBAR.sg
PSS.by : 1 *trans.pss obl:agent=PP.by
"""
