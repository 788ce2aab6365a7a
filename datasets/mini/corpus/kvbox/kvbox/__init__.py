from .store import Store
from .errors import KeyMissing, StoreError
