"""How good the answers are: judged questions, scores over them, and settings fitted to them.

Pure rooms: judgements and stored runs come from files, searches are made elsewhere (`_async.observe`, the command
line). Nothing here knows a database; ir-measures and scipy (extra `eval`) are loaded when first used.
"""
