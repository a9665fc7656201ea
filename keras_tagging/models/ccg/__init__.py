"""CCG parsers: by a chart, and by moves."""
