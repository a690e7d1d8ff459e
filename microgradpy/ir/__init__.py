"""The intermediate representation: data, and questions about data."""
