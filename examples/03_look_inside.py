"""What the compiler makes of a loop with a break: the SSA form, the primal and the adjoint."""

from __future__ import annotations

from microgradpy import code_adjoint, code_ir, code_primal, gradient


def root(x, tol):
    """The square root, by Newton's method."""
    y = x
    k = 0
    while k < 50:
        r = y * y - x
        if r < tol:
            break
        y = y - r / (2.0 * y)
        k = k + 1
    return y


def show(title: str, text: object) -> None:
    print(f"\n---- {title} ----\n{text}")


def main() -> None:
    print(f"d sqrt(x) / dx at 2 = {gradient(root, 2.0, 1e-12)[0]}; 1 / (2 sqrt(2)) = {0.5 / 2.0**0.5}")
    show("SSA form", code_ir(root))
    show("primal: the function, and what the adjoint will need of it", code_primal(root, 2.0, 1e-12))
    show("adjoint", code_adjoint(root, 2.0, 1e-12))


if __name__ == "__main__":
    main()
