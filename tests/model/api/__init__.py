"""Tests of handlers, one file for each."""
