"""The files of models: saved, checked, loaded, exported."""
