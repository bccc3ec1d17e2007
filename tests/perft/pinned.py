"""The pinned counts of test_perft_counts.py by seats; games that are counted alike stand in one row."""


def by_game(rows):
    """Return the counts by game and seats."""
    return {(name, seats): counts for seats, counts, names in rows for name in names.split()}


# different positions after 0, 1 ... actions
POSITIONS = by_game(
    [
        (2, (1, 7, 45, 159, 475, 758), "truc-catalan truc-catalan-moll"),
        (4, (1, 7, 49, 215, 870), "truc-catalan truc-catalan-moll"),
        (2, (1, 2, 17, 73, 259, 983), "truc-lanes truc-lanes-rational"),
        (4, (1, 2, 17, 75, 285), "truc-lanes truc-lanes-36 truc-lanes-rational truc-lanes-8low"),
        (2, (1, 2, 17, 73, 259, 980), "truc-lanes-36 truc-lanes-8low"),
        (2, (1, 2, 7, 23, 83, 334), "le-truc le-truc-two le-truc-16"),
        (2, (1, 2, 7, 23, 83, 340), "le-truc-seven"),
        (2, (1, 2, 17, 73, 273, 1056), "le-truc-any"),
        (2, (1, 4, 9, 31, 97, 272), "truc-french truc-sackson"),
        (2, (1, 4, 9, 31, 97, 266), "truc-french-8low"),
        (2, (1, 4, 19, 81, 307, 1194), "truc-french-any"),
        (4, (1, 26, 240, 1065), "truc-partnership"),
        (2, (1, 4, 14, 36, 89, 88), "trut trut-5 trut-confrerie"),
        (4, (1, 4, 14, 45, 144), "trut trut-5 trut-confrerie"),
        (2, (1, 8, 38, 100, 246, 503), "truco-argentino"),
        (4, (1, 8, 46, 171, 603), "truco-argentino"),
        (6, (1, 8, 54, 203), "truco-argentino truco-argentino-6"),
        (
            2,
            (1, 9, 47, 158, 466, 1211),
            "truco-argentino-flor truco-uruguayo truco-gauderio truco-gauderio-18",
        ),
        (4, (1, 9, 59, 270, 1308), "truco-argentino-flor truco-uruguayo truco-gauderio"),
        (6, (1, 9, 70, 336), "truco-argentino-flor truco-argentino-6-flor truco-uruguayo truco-gauderio"),
        (
            2,
            (1, 4, 15, 42, 117, 213),
            "truco-paulista truco-paulista-clean truco-mineiro truco-mineiro-clean truco-mineiro-2",
        ),
        (
            4,
            (1, 4, 16, 55, 184),
            "truco-paulista truco-paulista-clean truco-mineiro truco-mineiro-clean truco-mineiro-2",
        ),
        (6, (1, 4, 17, 59), "truco-paulista truco-paulista-clean truco-mineiro truco-mineiro-clean"),
        (2, (1, 8, 37, 108, 297, 681), "truco-venezolano"),
        (4, (1, 8, 40, 147, 550), "truco-venezolano"),
        (2, (1, 7, 31, 82, 236, 529), "truc-valencia"),
        (4, (1, 7, 36, 128, 440), "truc-valencia"),
        (2, (1, 5, 17, 46, 110, 179), "put"),
    ]
)
# rows of 1, 2 ... cards played without a word; these depend on the order of the cards
CARDS_ALONE = by_game(
    [
        (
            2,
            (3, 9, 18, 36, 18, 18),
            "truc-catalan truc-catalan-moll truco-argentino truco-argentino-flor truco-gauderio "
            "truco-gauderio-18 truco-uruguayo truco-venezolano",
        ),
        (4, (3, 9, 27, 81, 162, 324, 648, 1296, 648, 648, 648, 648), "truc-catalan truc-catalan-moll"),
        (
            2,
            (3, 9, 18, 36, 8, 8),
            "truc-lanes truc-lanes-rational truc-french truc-french-any truc-sackson trut trut-5 "
            "trut-confrerie",
        ),
        (
            4,
            (3, 9, 27, 81, 162, 324, 648, 1296, 448, 448, 448, 448),
            "truc-lanes truc-lanes-rational trut trut-5 trut-confrerie",
        ),
        (2, (3, 9, 18, 36, 24, 24), "truc-lanes-36 truc-lanes-8low le-truc-seven truc-french-8low"),
        (4, (3, 9, 27, 81, 162, 324, 648, 1296, 848, 848, 848, 848), "truc-lanes-36 truc-lanes-8low"),
        (2, (3, 9, 18, 36, 16, 16), "le-truc le-truc-two le-truc-any le-truc-16"),
        (4, (3, 9, 27, 81, 162, 324, 648, 1296, 336, 336, 336, 336), "truc-partnership"),
        (
            4,
            (3, 9, 27, 81, 162, 324, 648, 1296, 572, 572, 572, 572),
            "truco-argentino truco-argentino-flor truco-gauderio truco-venezolano",
        ),
        (
            6,
            (3, 9, 27, 81, 243, 729, 1458, 2916),
            "truco-argentino truco-argentino-flor truco-argentino-6 truco-argentino-6-flor "
            "truco-paulista truco-paulista-clean truco-mineiro truco-mineiro-clean truco-gauderio truco-uruguayo",
        ),
        (
            2,
            (3, 9, 18, 36, 14, 14),
            "truco-paulista truco-paulista-clean truco-mineiro truco-mineiro-clean truco-mineiro-2",
        ),
        (4, (3, 9, 27, 81, 162, 324, 648, 1296, 688, 688, 688, 688), "truco-paulista truco-paulista-clean"),
        (
            4,
            (3, 9, 27, 81, 162, 324, 648, 1296, 608, 608, 608, 608),
            "truco-mineiro truco-mineiro-clean truco-mineiro-2",
        ),
        (4, (3, 9, 27, 81, 162, 324, 648, 1296, 512, 512, 512, 512), "truco-uruguayo"),
        (2, (3, 9, 18, 36, 10, 10), "truc-valencia"),
        (4, (3, 9, 27, 81, 162, 324, 648, 1296, 584, 584, 584, 584), "truc-valencia"),
        (2, (3, 9, 18, 36, 28, 28), "put"),
    ]
)
