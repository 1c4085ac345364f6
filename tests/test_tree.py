"""Code made from text: facts are kept by the identity of nodes, so that no two pieces may share one."""

from transpile.first import tree


def test_code_from_the_same_text_shares_no_nodes():
    for make, text in ((tree.expression, "self.bias[0] + f(x, *args)"), (tree.statement, "self.bias = x.shape[0]\n")):
        first, second = make(text), make(text)
        assert tree.code(first) == text == tree.code(second)
        assert not {id(n) for n in tree.walk(first)} & {id(n) for n in tree.walk(second)}
