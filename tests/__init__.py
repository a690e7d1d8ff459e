"""The tests: tables of cases, and the checks that run over them."""
