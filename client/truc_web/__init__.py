"""What a browser is given: files, and in `tree.py` their name and the headers they are served with.

`lib` is the second implementation of the proof, in JavaScript: a verifier of transcripts and a client with a key, written
from the specification alone. It runs in Node and in browsers, without dependencies; begin with `lib/index.mjs`. Whoever
serves or reads it finds it by `importlib.resources.files("truc_web")`.
"""
