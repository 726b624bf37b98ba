import type { FieldRule, LoanEvent, Mapping, Target } from '../mapping.ts'

const EVENTS: Readonly<Record<string, LoanEvent>> = {
  'loan.sanctioned': 'loan.sanctioned',
  'loan.approved': 'loan.sanctioned',
  'loan.disbursed': 'loan.disbursed',
  'loan.disbursement': 'loan.disbursed',
  'disbursement.completed': 'loan.disbursed',
  'repayment.posted': 'repayment.posted',
  'repayment.received': 'repayment.posted',
  'loan.repayment': 'repayment.posted',
  'payment.received': 'repayment.posted',
  'loan.rescheduled': 'loan.rescheduled',
  'loan.restructured': 'loan.rescheduled',
  'loan.delinquent': 'loan.delinquent',
  'loan.overdue': 'loan.delinquent',
  'loan.npa': 'loan.npa',
  'loan.written.off': 'loan.written_off',
  'loan.writeoff': 'loan.written_off',
  'loan.closed': 'loan.closed',
  'loan.foreclosed': 'loan.closed',
  'charge.created': 'charge.created',
  'charge.satisfied': 'charge.satisfied',
}

/** Partners' names of each value; the first present one is used. */
const NAMES: readonly { target: Target; names: readonly string[]; transform: FieldRule['transform'] }[] = [
  { target: 'dealId', names: ['dealId', 'deal_id'], transform: 'text' },
  {
    target: 'loanRef',
    names: ['loanRef', 'loan_ref', 'loanId', 'loan_id', 'loan_account_number', 'loanAccountNumber', 'loan.id'],
    transform: 'text',
  },
  { target: 'occurredAt', names: ['occurredAt', 'occurred_at', 'event_time', 'eventTime'], transform: 'instant' },
  {
    target: 'amounts.principal',
    names: ['amounts.principal', 'principal', 'principal_amount', 'principalAmount'],
    transform: 'money',
  },
  {
    target: 'amounts.interest',
    names: ['amounts.interest', 'interest', 'interest_amount', 'interestAmount'],
    transform: 'money',
  },
  {
    target: 'amounts.outstanding',
    names: ['amounts.outstanding', 'outstanding', 'outstanding_amount', 'outstandingAmount', 'principal_outstanding'],
    transform: 'money',
  },
  { target: 'dpd', names: ['dpd', 'days_past_due', 'daysPastDue'], transform: 'integer' },
  { target: 'share.lender', names: ['share.lender', 'lender_share', 'lenderShare'], transform: 'percent' },
  { target: 'share.colender', names: ['share.colender', 'colender_share', 'colenderShare'], transform: 'percent' },
]

function fieldsUnder(prefix: string, more: Partial<Record<Target, readonly string[]>>): FieldRule[] {
  return NAMES.map(({ target, names, transform }) => ({
    target,
    from: [...names.map((name) => `${prefix}${name}`), ...(more[target] ?? [])],
    transform,
  }))
}

/** `{event, id, created_at, payload}`, the envelope of Indian loan systems. */
export const genericEnvelope: Mapping = {
  id: 'generic-envelope@1',
  sourceSystem: 'lms',
  sourceFormat: 'generic-envelope',
  description: 'JSON envelope {event, id, created_at, payload}',
  recognisedBy: ['event', 'payload'],
  event: { from: ['event'], becomes: EVENTS },
  fields: [
    { target: 'eventId', from: ['id'], transform: 'text' },
    ...fieldsUnder('payload.', { occurredAt: ['created_at', 'createdAt'] }),
  ],
}

export const genericFlat: Mapping = {
  id: 'generic-flat@1',
  sourceSystem: 'lms',
  sourceFormat: 'generic-flat',
  description: 'flat JSON object with a member `event`',
  recognisedBy: ['event'],
  event: { from: ['event'], becomes: EVENTS },
  fields: [
    { target: 'eventId', from: ['eventId', 'event_id', 'id'], transform: 'text' },
    ...fieldsUnder('', { occurredAt: ['created_at', 'createdAt', 'timestamp'] }),
  ],
}
