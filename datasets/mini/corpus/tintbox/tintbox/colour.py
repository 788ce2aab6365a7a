from .limits import HIGHEST, clamp, to_part


class Colour:
    """Red, green and blue as bytes."""

    def __init__(self, red, green, blue):
        self.red, self.green, self.blue = clamp(red), clamp(green), clamp(blue)

    def channels(self):
        return self.red, self.green, self.blue

    def hex(self):
        """Text such as '#ff8000'."""
        return "#%02x%02x%02x" % self.channels()

    def brightness(self):
        """The mean of the channels as a part of 1."""
        return sum(to_part(channel) for channel in self.channels()) / 3

    def inverted(self):
        """The opposite colour."""
        return Colour(*(HIGHEST - channel for channel in self.channels()))

    def __eq__(self, other):
        return self.channels() == other.channels()


BLACK = Colour(0, 0, 0)
WHITE = Colour(HIGHEST, HIGHEST, HIGHEST)
