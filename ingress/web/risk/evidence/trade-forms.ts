import type { z } from 'zod'
import { recordTradeDocument } from '#shared/risk/operations/record-trade.ts'
import { runTradePack, runTradeVerification } from '#shared/risk/operations/trade-requests.ts'
import { words } from '#shared/risk/packs/pdf/figures.ts'
import {
  DOCUMENT_TYPES,
  DocumentBody,
  EbrcBody,
  IecBody,
  ShippingBillBody,
  TradePackBody,
  type TradeRequest,
} from '#shared/risk/trade/requests.ts'
import { listDocuments, listVerifications } from '#shared/risk/trade/store.ts'
import type { TradeDocument, TradeFinding } from '#shared/risk/trade/trade-pack.ts'
import { readPage } from '../../../paging.ts'
import type { FormField } from '../../forms/fields.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import type { Console } from '../console.tsx'
import { codeField, type EvidenceForm, evidenceForm } from './form.tsx'
import { doOnce, idOf, jobContext, note } from './job-context.ts'

const common = { family: 'trade', area: 'trade' } as const
/** Maximum number of documents in a pack. */
const OFFERED = 100

const IEC: FormField = { name: 'iec', label: 'Exporter (IEC)', isMono: true, isRequired: true, demo: 'AAACR5678D' }
const BILL_HINT = 'of the shipping bill'

export function tradeForms(pages: Pages): void {
  evidenceForm(pages, documentForm)
  evidenceForm(pages, packForm)
  for (const form of verificationForms) evidenceForm(pages, form)
}

const documentForm: EvidenceForm<z.output<typeof DocumentBody>> = {
  ...common,
  path: '/trade/documents/new',
  title: 'Record a document',
  intro: 'By its hash: the file stays with you. `sha256sum FILE` prints it.',
  button: 'Record',
  fields: [
    codeField('type', 'Type', DOCUMENT_TYPES, 'COMMERCIAL_INVOICE'),
    { name: 'sha256', label: 'SHA-256 of the file', isMono: true, isRequired: true },
    { name: 'metadata.invoiceNumber', label: 'Invoice number', hint: 'encrypted; compared with the shipping bill' },
    { name: 'sizeBytes', label: 'Bytes', kind: 'number' },
    { name: 'mediaType', label: 'Media type', hint: 'such as application/pdf' },
  ],
  schema: DocumentBody,
  async submit(sent) {
    const { context, console, body } = sent
    return await doOnce(sent, async (tx) => {
      await recordTradeDocument(tx, console, body, context.deps)
      await note(tx, context, console, 'trade.document_recorded', body.sha256)
      return '/trade'
    })
  },
}

const packForm: EvidenceForm<z.output<typeof TradePackBody>> = {
  ...common,
  path: '/trade/packs/new',
  title: 'Build a pack',
  intro:
    'A signed and anchored statement over the documents that you choose, in this order, with the results of registries.',
  button: 'Issue the pack',
  fields: offered,
  schema: TradePackBody,
  async submit(sent) {
    const { context, console, body } = sent
    const answer = await runTradePack(jobContext(sent), body, (tx) =>
      note(tx, context, console, 'trade.pack_issued', body.title ?? ''),
    )
    return `/trade/packs/${idOf(answer, 'packId')}`
  },
}

/** Offers the newest documents and verifications. */
async function offered({ deps: { db, secrets } }: Context, console: Console): Promise<FormField[]> {
  const [documents, verifications] = await Promise.all([
    readPage({ limit: OFFERED }, secrets, (page) => listDocuments(db, console, page)),
    readPage({ limit: OFFERED }, secrets, (page) => listVerifications(db, console, page)),
  ])
  // Stored as we anchored them.
  const papers = documents.page.map(({ body }) => JSON.parse(body) as TradeDocument)
  const findings = verifications.page.map(({ body }) => JSON.parse(body) as TradeFinding)
  return [
    { name: 'title', label: 'Title', hint: 'for people; it is not signed' },
    {
      name: 'documents',
      label: 'Documents',
      kind: 'choices',
      hint: hintOf(papers.length, documents.nextCursor, 'Record a document first.'),
      options: papers.map(({ documentId, type, sha256, timestamp }) => ({
        value: documentId,
        label: `${words(type)}, ${sha256.slice(0, 16)}…, ${timestamp.slice(0, 10)}`,
      })),
    },
    {
      name: 'checks',
      label: 'Verifications',
      kind: 'choices',
      hint: hintOf(verifications.page.length, verifications.nextCursor, 'There is none yet; a pack needs none.'),
      options: findings.map(({ verificationId, subjectKind, timestamp }) => ({
        value: verificationId,
        label: `${words(subjectKind)}, ${verificationId.slice(0, 8)}…, ${timestamp.slice(0, 10)}`,
      })),
    },
  ]
}

function hintOf(count: number, nextCursor: string | null, none: string): string {
  if (count === 0) return none
  return nextCursor === null ? 'Choose from all there are.' : `The newest ${OFFERED}; older ones by the API.`
}

function jobForm<Body extends object>(
  form: Pick<EvidenceForm<Body>, 'path' | 'title' | 'intro' | 'fields' | 'schema'>,
  requestOf: (body: Body) => TradeRequest,
): EvidenceForm<unknown> {
  return {
    ...common,
    ...form,
    button: 'Ask the registry',
    async submit(sent) {
      // Parsed by the schema of the same form.
      const request = requestOf(sent.body as Body)
      const { context, console } = sent
      const answer = await runTradeVerification(jobContext(sent), request, (tx) =>
        note(tx, context, console, 'trade.verified', request.subjectKind),
      )
      return `/trade/verifications/${idOf(answer, 'verificationId')}`
    },
  }
}

const billFields = (prefix: string, isRequired: boolean): FormField[] => [
  { name: `${prefix}number`, label: 'Bill number', hint: BILL_HINT, isMono: true, isRequired, demo: '4821907' },
  { name: `${prefix}date`, label: 'Bill date', hint: 'YYYY-MM-DD', isRequired, demo: '2026-03-14' },
  { name: `${prefix}portCode`, label: 'Port', hint: 'such as INNSA1', isMono: true, isRequired, demo: 'INNSA1' },
]

const verificationForms = [
  jobForm(
    {
      path: '/trade/verify/ebrc',
      title: 'Verify a certificate of realisation',
      intro: 'The current state in the registry: a certificate may be cancelled later.',
      fields: [
        IEC,
        { name: 'brcNumber', label: 'e-BRC', isMono: true, isRequired: true, demo: 'SYNB0000123260000042' },
        ...billFields('shippingBill.', false),
        { name: 'realised.amount', label: 'Realised', kind: 'number', demo: '52000' },
        { name: 'realised.currency', label: 'Currency', isMono: true, demo: 'USD' },
      ],
      schema: EbrcBody,
    },
    (body) => ({ subjectKind: 'EBRC', ...body }),
  ),
  jobForm(
    {
      path: '/trade/verify/shipping-bill',
      title: 'Verify a shipping bill',
      fields: [IEC, ...billFields('', true), { name: 'fobValueInr', label: 'Value (₹)', kind: 'number' }],
      schema: ShippingBillBody,
    },
    (body) => ({ subjectKind: 'SHIPPING_BILL', ...body }),
  ),
  jobForm(
    {
      path: '/trade/verify/iec',
      title: 'Verify an exporter code',
      fields: [IEC, { name: 'legalName', label: 'Name', demo: 'Synthetic Components Private Limited' }],
      schema: IecBody,
    },
    (body) => ({ subjectKind: 'IEC', ...body }),
  ),
]
