"""jax_nn.py: what is copied from the rule files is not formatted again, so that they must be formatted themselves."""

from transpile import rulebook, support
from transpile.formatting import format_all


def test_the_support_file_is_formatted():
    book = rulebook.load()
    text = support.write(book, book.definitions)
    assert text == format_all(text)


def test_definitions_of_the_users_are_kept_and_formatted():
    book = rulebook.load()
    existing = support.write(book, ["Linear"]) + "\n\ndef mine( x ):\n    return [x ]\n"
    text = support.write(book, ["GELU"], existing)
    assert "class Linear(" in text and "class GELU(" in text and "def mine(x):\n    return [x]\n" in text
    assert text == format_all(text)
