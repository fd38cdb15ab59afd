"""tf2's exceptions."""


class TransformException(Exception):
    """Base of everything a lookup raises."""


class ConnectivityException(TransformException):
    """Both frames are known, but no chain of transforms joins them."""


class LookupException(TransformException):
    """A frame is not known at all."""


class ExtrapolationException(TransformException):
    """The requested time lies outside of the buffer."""


class InvalidArgumentException(TransformException):
    """A frame name is empty or starts with a slash."""
