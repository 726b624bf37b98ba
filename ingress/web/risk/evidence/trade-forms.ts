import { h } from 'preact'
import type { z } from 'zod'
import { recordTradeDocument } from '#shared/risk/operations/record-trade.ts'
import { runTradePack, runTradeVerification } from '#shared/risk/operations/trade-requests.ts'
import { dayText, instantText } from '#shared/risk/packs/pdf/figures.ts'
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
import { codeName } from './names.ts'

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
  intro: 'Only the hash of the file is recorded. The file stays with you.',
  button: 'Record',
  fields: [
    codeField('type', 'Type', DOCUMENT_TYPES, 'COMMERCIAL_INVOICE'),
    { name: 'sha256', label: 'SHA-256 of the file', kind: 'hash', isRequired: true },
    {
      name: 'metadata.invoiceNumber',
      label: 'Invoice number',
      hint: 'encrypted; a pack compares it with the shipping bill',
    },
    {
      summary: 'Size and type of the file',
      items: [
        { name: 'sizeBytes', label: 'Bytes', kind: 'number', hint: 'filled in when you choose the file' },
        { name: 'mediaType', label: 'Media type', hint: 'such as application/pdf' },
      ],
    },
  ],
  schema: DocumentBody,
  async submit(sent) {
    const { context, console, body } = sent
    return await doOnce(sent, async (tx) => {
      const { documentId } = await recordTradeDocument(tx, console, body, context.deps)
      await note(tx, context, console, 'trade.document_recorded', body.sha256)
      return `/trade/documents/${documentId}`
    })
  },
}

const packForm: EvidenceForm<z.output<typeof TradePackBody>> = {
  ...common,
  path: '/trade/packs/new',
  title: 'Build a pack',
  intro:
    'Choose the documents of one shipment and the results of registries. The pack is a signed and anchored statement about them.',
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
    { name: 'title', label: 'Title', hint: 'shown in your list; it is not signed' },
    {
      name: 'documents',
      label: 'Documents *',
      isRequired: true,
      kind: 'choices',
      hint:
        papers.length === 0
          ? h('a', { href: `${console.base}/trade/documents/new` }, 'Record a document first.')
          : hintOf(documents.nextCursor),
      options: papers.map(({ documentId, type, sha256, timestamp }) => ({
        value: documentId,
        label: `${codeName(type)}, recorded ${dayText(timestamp.slice(0, 10))}, SHA-256 ${sha256.slice(0, 12)}…`,
      })),
    },
    {
      name: 'checks',
      label: 'Verifications',
      kind: 'choices',
      hint: findings.length === 0 ? 'None yet. A pack can be issued without one.' : hintOf(verifications.nextCursor),
      options: findings.map(({ verificationId, subjectKind, timestamp }) => ({
        value: verificationId,
        label: `${codeName(subjectKind)}, ${instantText(timestamp)}`,
      })),
    },
  ]
}

function hintOf(nextCursor: string | null): string | undefined {
  return nextCursor === null ? undefined : `The newest ${OFFERED}. Use the API for older ones.`
}

function jobForm<Body extends object>(
  form: Pick<EvidenceForm<Body>, 'path' | 'title' | 'intro' | 'fields' | 'schema'>,
  requestOf: (body: Body) => TradeRequest,
): EvidenceForm<unknown> {
  return {
    ...common,
    ...form,
    button: 'Query the registry',
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
  { name: `${prefix}date`, label: 'Bill date', kind: 'date', isRequired, demo: '2026-03-14' },
  { name: `${prefix}portCode`, label: 'Port', hint: 'such as INNSA1', isMono: true, isRequired, demo: 'INNSA1' },
]

const verificationForms = [
  jobForm(
    {
      path: '/trade/verify/ebrc',
      title: 'Verify an e-BRC',
      intro:
        'Compares a bank realisation certificate with the registry. It may be cancelled later, so verify again before you rely on it.',
      fields: [
        IEC,
        {
          name: 'brcNumber',
          label: 'Number of the e-BRC',
          isMono: true,
          isRequired: true,
          demo: 'SYNB0000123260000042',
        },
        {
          legend: 'Also compare (optional)',
          items: [
            { name: 'realised.amount', label: 'Realised amount', kind: 'number', demo: '52000' },
            {
              name: 'realised.currency',
              label: 'Currency',
              hint: 'three letters, such as USD',
              isMono: true,
              demo: 'USD',
            },
            ...billFields('shippingBill.', false),
          ],
        },
      ],
      schema: EbrcBody,
    },
    (body) => ({ subjectKind: 'EBRC', ...body }),
  ),
  jobForm(
    {
      path: '/trade/verify/shipping-bill',
      title: 'Verify a shipping bill',
      fields: [
        IEC,
        ...billFields('', true),
        { name: 'fobValueInr', label: 'FOB value (₹)', kind: 'number', hint: 'compared with the bill' },
      ],
      schema: ShippingBillBody,
    },
    (body) => ({ subjectKind: 'SHIPPING_BILL', ...body }),
  ),
  jobForm(
    {
      path: '/trade/verify/iec',
      title: 'Verify an exporter code',
      fields: [
        IEC,
        {
          name: 'legalName',
          label: 'Legal name',
          hint: 'compared with the registry',
          demo: 'Synthetic Components Private Limited',
        },
      ],
      schema: IecBody,
    },
    (body) => ({ subjectKind: 'IEC', ...body }),
  ),
]
