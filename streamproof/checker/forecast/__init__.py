"""Forecasts: how large a search will be, before it is begun.

::

    ladder       the sizes below a wanted one, as axes
    climb        which of them are searched
    growth       their counts, carried on to the wanted size, with an interval
    multipliers  which field and which action makes the states so many
    forecast     all of that, for a model
"""
