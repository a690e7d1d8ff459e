"""Memory that is in sight as a whole, promoted to variables before differentiation (scalar replacement, mem2reg).

    s = Spring(k)                    s_x = 1.0;  s_v = 0.0
    for i in range(n):               for i in range(n):
        s.step(0.01)                     s_v = s_v - k * s_x * 0.01
                                         s_x = s_x + s_v * 0.01
    return s.x                       return s_x

An object, a dict or the cell of a shared variable that is made in a function, and that nobody else gets, becomes one variable
for each of its fields; methods, operators, functions inside and generators are written where they are called. A list stays the
list that it is, with a variable for each of its versions. Objects that refer to each other have numbers, and a list for each of
their fields. What is left has no writes, so its cotangents travel by value.

`driver` has the entry, `walker` goes over the program, `merging` says what branches make of fields and containers, `loops` and
`carried` what loops do; `calls`, `objects`, `pools`, `containers` and `functions` what is done with what is in sight, `fusing`
what a loop over a generator is, `recursion` functions that call themselves, `arguments`, `parts` and `written_arguments` what
came in, `numbered` and `families` objects in containers, `attempts` and `guarded` what a `try` is and a loop in it, `contexts`
a `with`, `thrown` and `raising` what a handler reads of an exception, `classes` what a class makes of a name, `places` what
there is in sight, `findings` what one walk leaves to the next, `conditions` what is only asked.
"""
