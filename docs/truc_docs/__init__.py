"""What makes the pages of docs/ that are derived from the code, and checks what is frozen there."""
