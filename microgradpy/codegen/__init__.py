"""`ir.Function` -> source text that reads as if a person had written it -> callable."""
