import { createHmac } from 'node:crypto'
import { eventually } from '../../support/eventually.ts'
import { type ApiClient, send } from '../../support/platform-client.ts'
import { callTool, connect } from '../mcp/agents.ts'
import type { Caller } from './example-caller.ts'

interface Callers {
  base: string
  client: ApiClient
  call: Caller
  /** another organisation */
  other: Caller
  /** with the consumer key */
  consumer: Caller
}

/** Records the evidence families in a sandbox. */
export async function recordFamilies({ base, client, call, other, consumer }: Callers): Promise<void> {
  await recordTrade(call)
  await recordBusiness(call)
  await recordIdentity(call)
  await recordFinancing(call, other)
  await recordAcceptance(call)
  await recordColending(call, base, client)
  await recordPool(consumer)
  await recordAgents(call, base)
  for (const read of ['listWebhookEventTypes', 'signSandboxInvoice']) await call(read, { isOwn: true })
  for (const id of ['requestPack', 'verifyIec']) await call(id, { prefer: 'respond-async' })
}

async function recordTrade(call: Caller): Promise<void> {
  const { documentId } = await call('recordTradeDocument')
  await call('getTradeDocument', { params: { documentId } })
  for (const id of ['verifyEbrc', 'verifyShippingBill']) await call(id)
  const { packId } = await call('issueTradePack', { body: { documents: [documentId], title: 'Shipment 4821907' } })
  await call('listTradePacks', { isOwn: true })
  const params = { tradePackId: packId, env: 'sandbox' }
  await eventually('the bundle', async () => (await call('getTradeBundle', { params })).mediaType)
  await call('getEvidenceKeys', { params })
}

async function recordBusiness(call: Caller): Promise<void> {
  const { vei } = await call('resolveEntity')
  const params = { vei }
  await call('verifyEntity', { params })
  await call('resolveLei')
  await call('getEntity', { params, isOwn: true })
  await call('listEntities', { isOwn: true })
  for (const id of ['changeMembership', 'listMemberships', 'stateOwners', 'listOwners'])
    await call(id, { params, isOwn: true })
  for (const id of ['trustEntityKey', 'listEntityKeys']) await call(id, { params })
  const { passportId } = await call('issueBusinessPassport', { params })
  await call('listBusinessPassports', { params })
  await call('revokeBusinessPassport', { params: { businessPassportId: passportId }, isOwn: true })
  const person = await call('resolveEntity', { body: { pan: 'AAAPR5678D' } })
  await call('eraseEntity', { params: { vei: person.vei }, isOwn: true })
}

async function recordIdentity(call: Caller): Promise<void> {
  const { subjectId } = await call('createSubject')
  const params = { subjectId }
  await call('verifySubject', { params })
  const consent = { subjectId, purpose: 'opening an account', fields: ['pan'], expiresAt: '2099-01-01T00:00:00Z' }
  const { consentId } = await call('recordConsent', { body: consent, isOwn: true })
  const { passportId } = await call('issueIdentityPassport', { params })
  await call('revokePassport', { params: { passportId }, isOwn: true })
  await call('trustIssuer')
  await call('listIssuers')
  await recordPresentation(call)
  await call('moveSubject', { params, isOwn: true })
  await call('getSubject', { params })
  await call('listSubjects')
  await call('withdrawConsent', { params: { consentId }, body: {}, isOwn: true })
  await call('listConsents', { isOwn: true })
  await call('eraseSubject', { params, isOwn: true })
}

/** Records a presentation before a wallet responds: no server listens at the address that the wallet would call. */
async function recordPresentation(call: Caller): Promise<void> {
  const { presentationId } = await call('requestPresentation')
  await call('getPresentation', { params: { presentationId } })
  await call('issueSandboxCredential', { isOwn: true })
}

async function recordFinancing(call: Caller, other: Caller): Promise<void> {
  const receivable = {
    ...{ supplierGstin: '29AAACR5678D1Z5', buyerGstin: '27AAACB1234C1ZF', documentType: 'INV' },
    ...{ documentNumber: 'INV/002', documentDate: '2026-05-01', totalInr: 118_000 },
  }
  const { registrationId } = await call('registerReceivable', { body: { ...receivable, lenderRef: 'LOAN-8' } })
  const params = { registrationId }
  await call('financeRegistration', { params })
  const reason = 'We financed this invoice on 2 May.'
  const { disputeId } = await other('disputeRegistration', { body: { receivable, reason } })
  await call('answerDispute', { params: { disputeId }, body: { answer: 'CONFIRM' } })
  await call('getRegistration', { params })
  const { transferToken } = await call('offerTransfer', { params, isOwn: true })
  await other('acceptTransfer', { body: { transferToken, receivable } })
  await call('getOprfKey')
  await call('evaluateBlinded')
}

async function recordAcceptance(call: Caller): Promise<void> {
  const receivableRef = 'RCV-7'
  const at = '2026-06-20T18:30:00Z'
  await call('recordAcceptance', { body: { receivableRef, channel: 'TREDS', action: 'ACCEPTED', at } })
  for (const id of ['recordAdjustment', 'requestBuyerAcceptance']) await call(id)
  await call('getAcceptanceTimeline', { params: { receivableRef } })
  const parties = 'supplierGstin=29AAACR5678D1Z5&buyerGstin=27AAACB1234C1ZF'
  await call('getAntiDilution', { query: `?${parties}` })
}

async function recordColending(call: Caller, base: string, { credentials }: ApiClient): Promise<void> {
  await call('listLoanMappings', { isOwn: true })
  await call('previewLoanMapping')
  const loan = { loan_id: 'L-1', principal: '125000.50', lender_share: 20, colender_share: 80 }
  const event = { event: 'loan.disbursed', id: 'evt-1', created_at: '2026-11-21T10:00:00Z', payload: loan }
  const body = JSON.stringify(event)
  const key = Buffer.from(String(credentials.lmsSecret).slice('whsec_'.length), 'base64')
  await send(`${base}/v1/colending/lms-events/${credentials.lmsIntegrationId}`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-lms-signature': createHmac('sha256', key).update(body).digest('hex'),
    },
    body,
  })
  await call('listLoanEvidence')
}

async function recordPool(call: Caller): Promise<void> {
  const { poolId } = await call('createPool')
  const params = { poolId }
  await call('addPoolReceivables', { params })
  const { receivableId } = await eventually('the evidence of the receivable', async () => {
    const { receivables } = await call('listPoolReceivables', { params, isOwn: true })
    return receivables[0]
  })
  const { cutRecordId } = await call('cutPool', { params })
  await call('proveMembership', { params: { cutId: cutRecordId }, query: `?receivableId=${receivableId}` })
  for (const read of ['getPoolEvidenceRoot', 'getPoolStratification', 'getPoolReplines']) await call(read, { params })
  const { runId } = await call('evaluatePool', { params })
  await call('listEligibilityResults', { params: { runId }, isOwn: true })
}

async function recordAgents(call: Caller, base: string): Promise<void> {
  const { key } = await call('createAgentKey')
  await callTool(await connect(base, key), 'gstin_validate', { gstin: '29AAACR5678D1Z5' })
  await call('listAgentKeys')
  await call('listAgentCalls')
}
