"""A stored run in the formats of others. An exporter a module, so that one loads alone."""
