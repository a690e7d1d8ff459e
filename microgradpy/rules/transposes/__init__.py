"""Rules for what pullbacks call: by these, pullbacks are differentiated with respect to their seed, which gives forward mode.

Each helper is linear in the cotangent it is given, and its pullback is the transposed map. In that the cotangent itself is only
asked for its shape: in forward mode the value of the call stands in for it. Arguments of which only the shape matters have
none; of those that a pullback depends on besides, it is a second derivative: written out where that is short, and else `...`,
which is what the text of the helper gives, differentiated. Helpers that return None have None for the tangent that they are
given back.
"""
