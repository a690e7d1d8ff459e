"""A cache on disk of compiled gradients: a script that is run again need not compile, nor import what compiles."""
