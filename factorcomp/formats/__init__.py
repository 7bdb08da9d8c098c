"""Model files: read and written."""

from factorcomp.formats.features import load_features as load_features
from factorcomp.formats.files import load as load
from factorcomp.formats.files import save as save
