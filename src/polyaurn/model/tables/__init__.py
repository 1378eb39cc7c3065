"""What a trained model shows: tables of topics, documents, times and classes; a file for each."""
