"""Lower bounds for the weights of a network, by which damaged files are refused."""

from keras_tagging.encoding.label_columns import is_inventory


def of_inputs(settings, vocabularies, vector_dim: int) -> tuple[int, int]:
    """A lower bound for the weights of all tables, and the size of a token's vector.

    Args:
        settings: of a network that reads words.
        vocabularies: of features and labels, by name.
        vector_dim: of the vectors that are a feature.
    """
    letters = settings.letters
    dims = {
        "word": settings.get("word_dim", 0),
        "character": settings.get("character_dim", 0),
        "vector": vector_dim,
        "letters": letters.character_embedding_dim,
    }
    tables = {
        k: dims.get(k, settings.get("affix_dim", 0))
        for k in vocabularies
        if not is_inventory(k) and k != "spelling"
    }
    count = sum(len(vocabularies[name]) * dim for name, dim in tables.items())
    inputs = sum(tables.values())
    if "letters" in tables:
        # three gates that read a character and the state before, in two directions, or
        # filters that read three characters
        recurrent = letters.character_network != "cnn"
        reads = tables["letters"] + recurrent * letters.character_units
        count += 3 * letters.size * reads
        inputs += letters.size - tables["letters"]
    if "character" in tables:
        inputs += (2 * settings["characters"] - 1) * tables["character"]
    inputs *= max(1, settings.get("window", 0))
    if settings.get("window_over") == "words" and settings.get("window", 0) > 1:
        inputs = settings["window"] * tables.get("word", 0)
    return count, inputs


def of_stack(inputs: int, units: int, layers: int) -> int:
    """A lower bound for the weights of one gate of a bidirectional stack."""
    return units * (inputs + 2 * (2 * layers - 1) * units)


def label_counts(vocabularies) -> list[int]:
    """The numbers of labels of each column."""
    return [len(words) for name, words in vocabularies.items() if is_inventory(name)]
