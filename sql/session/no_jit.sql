-- Answer instead of compiling, in this transaction: a search takes milliseconds, compiling its plan ten times that.

SET LOCAL jit = off
