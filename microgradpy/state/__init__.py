"""State: the cotangents of objects that are written into while a differentiated function runs.

`shadows` holds them, `snapshots` what is kept of contents and structure, `write_handlers` what each kind of write does forwards
and backwards, `arrays`, `lists`, `mappings`, `deques` and `objects` the writes themselves, `dispatch` the choice at run time.
"""
