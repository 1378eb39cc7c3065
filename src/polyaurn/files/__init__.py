"""Files that are read with care and written whole: guarded reading, sealed folders, locks."""
