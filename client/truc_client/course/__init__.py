"""The course of a match, from its records: what lay on the table at each of them, who could see what, and what each says in a sentence."""
