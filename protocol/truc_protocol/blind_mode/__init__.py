"""The deal of tables whose server sees no card (mode `blind`), as functions and values, without records.

`points` is the arithmetic, `seat_secrets` what a seat draws from its link, `key_boxes` what the keys of a hand are sealed
in, `sealed_pack` the public state of one deal index, `seat_steps` what a seat makes and reads, and how it is judged once
its link is open. docs/fairness/blind.md has the argument. A *hand played blind*, whose cards nobody sees
before they are played, is something else, and is possible in either mode.
"""
