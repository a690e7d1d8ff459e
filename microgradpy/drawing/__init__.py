"""Pictures of graphs, with the standard library only: a layout in layers, and writers for SVG, DOT and Mermaid."""
