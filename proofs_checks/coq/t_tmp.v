From factorcomp Require Import computation.
About model. About experts. About ZkE. About law_compE. About masses. About token.
