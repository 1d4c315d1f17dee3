"""The cellar:

statements, the translation of failures, vectors on the wire. The only floor below the corridors that knows
psycopg.
"""
