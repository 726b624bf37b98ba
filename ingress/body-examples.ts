const receivable = {
  supplierGstin: '29AAACR5678D1Z5',
  buyerGstin: '27AAACB1234C1ZF',
  documentType: 'INV',
  documentNumber: 'INV/001',
  documentDate: '2026-05-01',
  totalInr: 118_000,
}
const check = { name: 'Nightly backup', slug: 'nightly-backup', tags: 'prod', timeout: 86_400, grace: 3_600 }
const policy = {
  name: 'On call',
  match: 'prod',
  when: { failures: 2, down_for: 60 },
  steps: [
    { wait: 0, repeat: { every: 3_600 } },
    { wait: 900, severity: 'critical' },
  ],
}
const window = { name: 'Weekly', match: 'db', every: 'Sat 02:00', for: 7_200, tz: 'Europe/Riga', uptime: 'exclude' }
const rotation = { start: '2026-01-05T09:00', rotation: { unit: 'week' } }
const schedule = {
  name: 'Primary',
  tz: 'Europe/Berlin',
  layers: [{ people: ['anna@example.org', 'ben@example.org'], ...rotation }],
}
const financed = { financedOn: '2026-05-02', financedAmountInr: 100_000 }
const business = { gstin: '29AAACR5678D1Z5', cin: 'U28999MH2015PTC123456' }
const shippingBill = { number: '4821907', date: '2026-03-14', portCode: 'INNSA1' }
const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'
const EXPORTER = 'AAACR5678D'
const COMPANY = 'Synthetic Components Private Limited'
const JWK = { kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }

/**
 * Bodies of requests by operation, for the document and the reference. A body is absent if its schema alone gives a
 * sensible example. A test sends all of them.
 */
export const bodyExamples: Readonly<Record<string, object>> = {
  createCheck: { ...check, unique: ['slug'] },
  updateCheck: { grace: 7_200, tags: 'prod db' },
  createCheckV2: check,
  updateCheckV2: { grace: 7_200 },
  createCheckV1: check,
  updateCheckV1: { grace: 7_200 },
  createIntegration: {
    kind: 'webhook',
    name: 'Chat bot',
    config: { url_down: 'https://example.org/hook?check=$SLUG' },
  },
  updateIntegration: { name: 'Night shift' },
  importProject: { version: 1, channels: [], checks: [] },
  planImportFromHealthchecks: { url: 'https://healthchecks.example.org', api_key: 'read-write-key-of-the-project' },
  planImportFromCronitor: { text: 'jobs:\n- key: backup\n  schedule: 0 3 * * *\n' },
  planImportFromUptimeKuma: { text: '{"monitorList":[{"type":"push","name":"Backup","interval":60}]}' },
  createPolicy: policy,
  updatePolicy: policy,
  updateRules: { severity: 'warning', parents: [{ tag: 'router' }] },
  createWindow: window,
  updateWindow: window,
  createSchedule: schedule,
  previewSchedule: { schedule },
  updateSchedule: schedule,
  createCalendarFeed: { name: 'Phone' },
  createOverride: { person: 'ben@example.org', start: '2026-11-21T18:00:00Z', end: '2026-11-22T06:00:00Z' },
  takeShift: { person: 'ben@example.org', until: '2026-11-22T06:00:00Z' },
  offerSwap: { from: 'anna@example.org', start: '2026-11-21T18:00:00Z', end: '2026-11-22T06:00:00Z' },
  takeSwap: { person: 'ben@example.org' },
  ackIncident: { by: 'Anna', note: 'Disk is full, cleaning up.', for: 3_600 },
  takeIncident: { person: 'anna@example.org' },
  assignIncident: { to: 'anna@example.org', note: 'The database is yours.' },
  noteIncident: { text: 'The disk of db2 is full.' },
  reportIncident: { text: 'Logs had filled the disk; they are rotated daily now.' },
  updateProvisioning: { grace: 600, tags: 'auto' },
  simulate: {
    ...{ settings: check, policy, events: [{ at: '2026-11-20T02:00:00Z', kind: 'success' }] },
    ...{ from: '2026-11-20T00:00:00Z', until: '2026-11-22T00:00:00Z' },
  },
  issueToken: { grant_type: 'client_credentials', client_id: 'client-id', client_secret: 'client-secret' },
  requestPack: {
    mode: 'DEMO',
    buyerGstin: '27AAACB1234C1ZF',
    borrowerGstin: '29AAACR5678D1Z5',
    subcontractorGstin: '24AAFFS4321K1ZA',
    poValue: 1_250_000,
  },
  signSandboxInvoice: {
    supplierGstin: '29AAACR5678D1Z5',
    buyerGstin: '27AAACB1234C1ZF',
    documentNumber: 'INV/001',
    documentDate: '2026-05-01',
    totalInr: 118_000,
  },
  createWebhookEndpoint: { url: 'https://consumer.example/hooks', eventTypes: ['risk_signals.*'] },
  changeWebhookEndpoint: { description: 'Loan origination' },
  rotateWebhookSecret: { overlapHours: 24 },
  enableWebhookEndpoint: { releasePaused: true },
  replayWebhookDeliveries: { from: '2026-11-20T00:00:00Z' },
  receiveLmsEvent: { event: 'loan.disbursed', id: 'evt-1', payload: { loan_id: 'L-1', principal: '125000.50' } },
  receiveLmsHook: { event: 'loan.disbursed', id: 'evt-1', payload: { loan_id: 'L-1', principal: '125000.50' } },
  previewLoanMapping: { record: { event: 'loan.disbursed', id: 'evt-1', payload: { loan_id: 'L-1' } } },
  createPool: { name: 'Pool 7' },
  addPoolReceivables: {
    receivables: [
      {
        receivableId: 'R-1',
        supplierGstin: '29AAACR5678D1Z5',
        buyerGstin: '27AAACB1234C1ZF',
        documentType: 'INV',
        documentNumber: 'P/1',
        documentDate: '2026-05-01',
        amountInr: 100_100,
        dueDate: '2026-08-01',
      },
    ],
  },
  cutPool: { cutOffDate: '2026-06-30' },
  evaluatePool: { rules: [{ id: 'small', field: 'amountInr', op: 'le', value: 150_000 }] },
  checkReceivable: receivable,
  registerReceivable: { ...receivable, lenderRef: 'LOAN-7' },
  financeRegistration: financed,
  releaseRegistration: { reason: 'Repaid' },
  cancelRegistration: { reason: 'Entered by mistake' },
  renewRegistration: {},
  offerTransfer: {},
  acceptTransfer: { transferToken: 'NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs', receivable },
  disputeRegistration: { receivable, reason: 'We financed this invoice on 2 May.' },
  evaluateBlinded: { epoch: 2, blinded: ['e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76'] },
  proveAbsence: { receivable: { ...receivable, documentNumber: 'NEVER/1' } },
  recordAcceptance: {
    ...{ receivableRef: 'RCV-8', channel: 'TREDS', action: 'ACCEPTED' },
    at: '2026-06-20T18:30:00.000Z',
  },
  recordAdjustment: { receivableRef: 'RCV-7', kind: 'CREDIT_NOTE', amountInr: 5_900, at: '2026-07-01T00:00:00Z' },
  requestBuyerAcceptance: { receivableRef: 'RCV-7', receivable, buyerEmail: 'payables@example.org' },
  verifyBusiness: { ...business, legalName: COMPANY },
  resolveLei: { cin: business.cin, legalName: COMPANY },
  resolveEntity: { gstin: business.gstin },
  changeMembership: {
    organisation: 'Synthetic Holdings',
    role: 'SUBSIDIARY',
    action: 'JOIN',
    effectiveOn: '2026-04-01',
  },
  stateOwners: { owners: [{ name: 'Asha Rao', kind: 'PERSON', holdingBps: 6_000, controlBasis: 'shares' }] },
  issueBusinessPassport: { purpose: 'opening an account', validForDays: 180 },
  revokeBusinessPassport: { reason: 'replaced' },
  eraseEntity: { reason: 'requested by letter' },
  trustEntityKey: { jwk: JWK },
  recordTradeDocument: { type: 'COMMERCIAL_INVOICE', sha256: SHA256, metadata: { invoiceNumber: 'EXP-26-17' } },
  verifyEbrc: {
    ...{ iec: EXPORTER, brcNumber: 'SYNB0000123260000042' },
    ...{ shippingBill, realised: { amount: 52_000, currency: 'USD' } },
  },
  verifyShippingBill: { iec: EXPORTER, ...shippingBill },
  verifyIec: { iec: EXPORTER, legalName: COMPANY },
  issueTradePack: { documents: ['6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33'], title: 'Shipment 4821907' },
  verifyTradeBundle: {
    mediaType: 'application/vnd.dev.sigstore.bundle+json',
    envelope: {
      payload: 'eyJfdHlwZSI6Imh0dHBzOi8vaW4tdG90by5pby9TdGF0ZW1lbnQvdjEifQ',
      payloadType: 'application/vnd.in-toto+json',
      signatures: [{ sig: 'c2lnbmF0dXJl' }],
    },
    ...{ keys: [JWK], record: {}, proof: null },
  },
  createSubject: { externalRef: 'customer-4711', kind: 'BUSINESS' },
  moveSubject: { to: 'SUSPENDED', reason: 'under review' },
  eraseSubject: { reason: 'requested by letter' },
  verifySubject: { method: 'REGISTRY', registry: 'PAN', identifier: EXPORTER },
  issueIdentityPassport: { purpose: 'opening an account' },
  verifyPassport: { passport: 'eyJhbGciOiJFZERTQSJ9.e30.c2lnbmF0dXJl' },
  revokePassport: { reason: 'replaced' },
  recordConsent: {
    subjectId: '6f1c9a52-3d0b-4b7e-9d57-0a4f2c8e1b33',
    ...{ purpose: 'opening an account', fields: ['pan'], expiresAt: '2036-11-21T00:00:00Z' },
  },
  requestPresentation: { purpose: 'opening an account', template: 'company-basic' },
  trustIssuer: { iss: 'https://issuer.example', vctValues: ['https://issuer.example/company'], issuerMetadata: true },
  issueSandboxCredential: { holderJwk: JWK, vct: 'https://issuer.example/company', claims: { legalName: COMPANY } },
  createAgentKey: { name: 'assistant', scopes: ['agents:invoke', 'risk-signals:read'] },
  callTools: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
}
