"""Pictures of the network: pure functions from rows to Plotly figures; colours are tokens of the style sheet."""
