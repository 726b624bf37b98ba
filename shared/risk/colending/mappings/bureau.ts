import { bureauMapping, column, type FileMapping, personal } from '../imports/file-mapping.ts'

/** Counts and drops other segments than the account's. */
export const segmentAccounts: FileMapping = bureauMapping('segment-tlv', 1, {
  description: 'tagged segments of borrowers: PN and others about the person, TL the account, ES02** the end',
  columns: [
    column('TL.03', 'loanRef', 'text', { required: true }),
    column('TL.08', 'occurredAt', 'date-ddmmyyyy'),
    column('TL.12', 'amounts.principal', 'money'),
    column('TL.13', 'amounts.outstanding', 'money'),
    column('TL.15', 'dpd', 'integer'),
    column('header.reportedOn', 'facts.reportedOn', 'date-ddmmyyyy'),
    ...['PN', 'ID', 'PT', 'EC', 'EM', 'PA'].map(personal),
  ],
})

export const fixedAccounts: FileMapping = bureauMapping('fixed-record', 1, {
  description: 'records of fixed positions: a header, base records of 426 characters with optional segments, a trailer',
  columns: [
    column('base.account', 'loanRef', 'text', { required: true }),
    column('base.opened', 'occurredAt', 'date-mmddyyyy'),
    column('base.highestCredit', 'amounts.principal', 'money'),
    column('base.currentBalance', 'amounts.outstanding', 'money'),
    column('base.status', 'facts.status', 'code'),
    column('base.informationDate', 'facts.reportedOn', 'date-mmddyyyy'),
    ...['base.consumer', 'J1', 'J2', 'K4', 'N1'].map(personal),
  ],
})
