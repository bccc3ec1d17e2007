"""What the command lines of `truc`, `truc-server` and `truc-conform` share: pages for `man`, completion in a shell, output.

Pages and completion are made from the commands themselves. Nothing here knows any of the programs.
"""
