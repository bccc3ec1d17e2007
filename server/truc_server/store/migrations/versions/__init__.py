"""One module a revision, oldest first; a published revision is never changed."""
