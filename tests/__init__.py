"""Tests: tables and files."""
