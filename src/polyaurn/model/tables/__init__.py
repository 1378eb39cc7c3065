"""Tables of a trained model: words, topics, documents, groups of documents, mergers."""
