"""`python -m keras_tagging` is the program `keras-tagging`."""

from keras_tagging.cli import main

if __name__ == "__main__":
    main()
