-- Let PostgreSQL judge a regular expression; it raises invalid_regular_expression for one that it cannot read.
-- param expression text
-- row   matches

SELECT '' ~* %(expression)s::text AS matches
