from .quantity import Quantity
from .convert import convert, to_base
