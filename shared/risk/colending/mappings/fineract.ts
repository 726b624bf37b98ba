import type { Mapping } from '../mapping.ts'

/**
 * Web hooks have no event id and no signature: the body's hash makes them idempotent, and a token in the path
 * authenticates them. Fees (LOANCHARGE) are not charges on security, and stay unmapped.
 */
export const fineractHook: Mapping = {
  id: 'fineract-hook@1',
  sourceSystem: 'apache-fineract',
  sourceFormat: 'fineract-hook',
  description:
    'Apache Fineract web hook: headers X-Fineract-Entity and X-Fineract-Action, body {officeId, clientId, loanId, resourceId, changes}',
  recognisedBy: ['@x-fineract-entity', '@x-fineract-action'],
  event: {
    from: ['@x-fineract-entity', '@x-fineract-action'],
    becomes: {
      'loan.approve': 'loan.sanctioned',
      'loan.disburse': 'loan.disbursed',
      'loan.disbursetosavings': 'loan.disbursed',
      'loan.repayment': 'repayment.posted',
      'loan.writeoff': 'loan.written_off',
      'loan.close': 'loan.closed',
      'loan.foreclosure': 'loan.closed',
      'loan.closeasrescheduled': 'loan.rescheduled',
      'rescheduleloan.approve': 'loan.rescheduled',
    },
  },
  fields: [
    { target: 'loanRef', from: ['loanId', 'resourceId'], transform: 'text' },
    {
      target: 'occurredAt',
      from: [
        'changes.transactionDate',
        'changes.actualDisbursementDate',
        'changes.approvedOnDate',
        'changes.closedOnDate',
        'changes.writtenOffOnDate',
      ],
      transform: 'fineract-date',
    },
    {
      target: 'amounts.principal',
      from: ['changes.approvedLoanAmount', 'changes.principal'],
      transform: 'money',
      only: ['loan.sanctioned'],
    },
    {
      target: 'amounts.principal',
      from: ['changes.transactionAmount', 'changes.disbursedAmount'],
      transform: 'money',
      only: ['loan.disbursed'],
    },
  ],
}
