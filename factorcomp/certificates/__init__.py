"""The trusted kernel: claims, exact decisions and certificates, with the Python standard library alone."""

from factorcomp.certificates.claims import ClaimResult as ClaimResult
from factorcomp.certificates.claims import Findings as Findings
from factorcomp.certificates.claims import Measures as Measures
from factorcomp.certificates.claims import Question as Question
from factorcomp.certificates.claims import Verdict as Verdict
from factorcomp.certificates.documents import KernelError as KernelError
from factorcomp.certificates.kernel import decide as decide
from factorcomp.certificates.models import Model as Model
from factorcomp.certificates.reading import digest as digest
from factorcomp.certificates.reading import read_model as read_model
