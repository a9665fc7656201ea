from reference.ccg_parser import is_sentence

from keras_tagging.corpora.loading import demo_corpus


def test_the_corpus_is_the_one_that_figures_are_of():
    corpus = demo_corpus()
    assert (corpus.name, corpus.format) == ("demo", "demo")
    assert corpus.fingerprint() == (
        "814c2f45bc165afe90eb2384f4b83c06738b783fd85bcf792ccac1173b7c63a6"
    )
    for _, sentences in corpus.splits():
        assert all(is_sentence(sentence.tags) for sentence in sentences)
