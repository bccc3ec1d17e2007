"""One module for each revision, oldest first; a published revision is never changed."""
