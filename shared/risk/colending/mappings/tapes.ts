import { column, type FileMapping, personal, tapeMapping } from '../imports/file-mapping.ts'

export const consumerNotes: FileMapping = tapeMapping('consumer-notes-csv', 1, {
  description: 'CSV of consumer notes: one line per loan, amounts with a decimal point, months as Dec-2015',
  recognisedBy: ['id', 'loan_amnt', 'int_rate', 'issue_d'],
  columns: [
    column('id', 'loanRef', 'text', { required: true }),
    column('loan_amnt', 'amounts.principal', 'money', { required: true }),
    column('funded_amnt', 'facts.fundedAmount', 'money'),
    column('term', 'facts.termMonths', 'months'),
    column('int_rate', 'facts.interestRateBps', 'rate-bps'),
    column('issue_d', 'occurredAt', 'date'),
    column('loan_status', 'facts.status', 'code'),
    column('out_prncp', 'amounts.outstanding', 'money'),
    column('total_rec_prncp', 'facts.principalRepaid', 'money'),
    ...['member_id', 'emp_title', 'desc', 'url', 'title', 'zip_code', 'addr_state'].map(personal),
  ],
})

export const indianLoanTape: FileMapping = tapeMapping('in-loan-tape', 1, {
  description: 'CSV of co-lent loans: one line per loan account, rupees, days past due, asset class, shares in percent',
  recognisedBy: ['loan_account_number', 'principal_outstanding', 'days_past_due'],
  columns: [
    column('loan_account_number', 'loanRef', 'text', { required: true }),
    column('sanction_date', 'occurredAt', 'date'),
    column('disbursed_amount', 'amounts.principal', 'money'),
    column('principal_outstanding', 'amounts.outstanding', 'money', { required: true }),
    column('days_past_due', 'dpd', 'integer'),
    column('asset_class', 'facts.assetClass', 'asset-class'),
    column('lender_share_pct', 'share.lender', 'percent'),
    column('colender_share_pct', 'share.colender', 'percent'),
    column('interest_rate_pct', 'facts.interestRateBps', 'rate-bps'),
    ...['borrower_name', 'pan', 'aadhaar', 'mobile', 'email', 'address', 'date_of_birth', 'pincode'].map(personal),
  ],
})
