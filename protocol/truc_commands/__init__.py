"""What the command lines of `truc`, `truc-server` and `truc-conform` share: pages for `man`, and completion in a shell.

All of it is made from the commands themselves. Nothing here knows one of the programs.
"""
