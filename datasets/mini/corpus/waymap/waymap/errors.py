class RouteError(Exception):
    """Anything about routes."""


class NotFound(RouteError):
    """No route for a path."""


class MethodNotAllowed(RouteError):
    """A route, but not for this method."""
