"""Can these models be composed at all, and what will their verdicts mean?"""

from factorcomp.diagnosis.examination import doctor as doctor
