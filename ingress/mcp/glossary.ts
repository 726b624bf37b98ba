/** Texts that agents may read: the meaning of the words of a pack (docs/spec/risk-signals.md#pack-members; docs/risk-signals.md has more). */
export const TIERS = `# Evidence tiers

Each graded signal has a status: the lowest tier among the inputs that its sentence relies on.

- REGISTRY_VERIFIED: an authoritative registry, read by us, under a consent where one is needed
- LENDER_SIDE: the records of lenders, such as the first-financing registry
- ISSUER_CONFIRMED: the issuer of a document, asked directly
- DOCUMENT_SIGNED: a document whose signature was verified
- SELF_DECLARED: the request itself
- MISSING: nowhere, it could not be resolved; never zero and never adverse

Levels: CONFLICTED, ATTENTION, INCOMPLETE, CLEAR; the first that applies. They route work to people and recommend nothing.
`

export const FORMULAS = `# Formulas

- Trade: the last 12 return periods whose due date has passed, amendments applied, duplicates removed. A period that was not filed is unknown; a filed one without rows is 0. The trend compares the means of the first and last six periods: from 115 % GROWING, up to 85 % DECLINING, else STABLE.
- Established: at least 6 invoices in at least 3 months.
- Capacity: the worse of two loads. Order to annual turnover: up to 0.25 ADEQUATE, up to 0.60 STRETCHED, above CONSTRAINED. Order per employee: 2,500,000 and 7,500,000 INR.
- Cash flow: the mean of the monthly means of end-of-day balances of six complete months. BRONZE below 100,000, SILVER below 1,000,000, GOLD below 5,000,000, PLATINUM from there. It describes a balance, not quality.
- Double financing, in this order: DUPLICATE_FINANCED, DUPLICATE_REGISTERED, CHARGE_FOUND, POSSIBLE_MATCH, UNRESOLVED, CLEAN. Nobody learns who the other party is.
`
