from .errors import MethodNotAllowed, NotFound
from .paths import join_path
from .pattern import compile_pattern

ANY = "*"


class Router:
    """Patterns with handlers."""

    def __init__(self, prefix=""):
        self.prefix = prefix
        self.routes = []

    def add(self, text, handler, method=ANY):
        """Add a route."""
        self.routes.append((compile_pattern(join_path(self.prefix, text)), handler, method))

    def matches(self, path):
        """Routes for a path with their values."""
        found = []
        for pattern, handler, method in self.routes:
            values = pattern.match(path)
            if values is not None:
                found.append((handler, method, values))
        return found

    def resolve(self, path, method="GET"):
        """The handler and the values for a request."""
        found = self.matches(path)
        if not found:
            raise NotFound(path)
        for handler, allowed, values in found:
            if allowed in (ANY, method):
                return handler, values
        raise MethodNotAllowed(method)
