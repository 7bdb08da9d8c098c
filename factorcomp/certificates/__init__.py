"""The trusted kernel: claims, exact decisions and certificates, with the Python standard library alone."""

from factorcomp.certificates.automata import Automaton as Automaton
from factorcomp.certificates.certificate import certificate as certificate
from factorcomp.certificates.certificate import fingerprint as fingerprint
from factorcomp.certificates.certificate import read_certificate as read_certificate
from factorcomp.certificates.certificate import write_certificate as write_certificate
from factorcomp.certificates.checking import CheckResult as CheckResult
from factorcomp.certificates.checking import check_certificate as check_certificate
from factorcomp.certificates.claims import ClaimResult as ClaimResult
from factorcomp.certificates.claims import Findings as Findings
from factorcomp.certificates.claims import Measures as Measures
from factorcomp.certificates.claims import Question as Question
from factorcomp.certificates.claims import Verdict as Verdict
from factorcomp.certificates.documents import KernelError as KernelError
from factorcomp.certificates.feature_maps import FeatureMap as FeatureMap
from factorcomp.certificates.feature_maps import read_feature_map as read_feature_map
from factorcomp.certificates.kernel import decide as decide
from factorcomp.certificates.models import Model as Model
from factorcomp.certificates.reading import digest as digest
from factorcomp.certificates.reading import read_model as read_model
