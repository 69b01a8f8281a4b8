"""Decisions on moves as pictures: figures for Plotly in tokens of the style sheet."""
