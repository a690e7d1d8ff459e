"""The front end: from a Python function to `ir.nodes.Function`.

`source` finds the text of the running code, `scope` says which names are whose, `resolve` folds module-level names,
`lower*` turn the syntax tree into structured SSA, `prune` removes what nobody reads, `fence` is the table of what is
refused.
"""
