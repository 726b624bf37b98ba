import { AcceptanceBody, AdjustmentBody, BuyerRequestBody } from '#shared/risk/acceptance/acceptance.ts'
import { ADJUSTMENT_KINDS } from '#shared/risk/acceptance/dilution.ts'
import { DilutionQuery } from '#shared/risk/acceptance/dilution-query.ts'
import {
  refuseFuture,
  refuseWithoutMail,
  runAcceptanceRecord,
  runDilution,
} from '#shared/risk/operations/acceptance-requests.ts'
import { requestBuyerAcceptance } from '#shared/risk/operations/acceptances.ts'
import { recordAdjustment } from '#shared/risk/operations/record-acceptance.ts'
import { toMillis } from '#shared/time.ts'
import type { FormField, FormItem } from '../../forms/fields.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { codeField, evidenceForm, instantField } from './form.tsx'
import { doOnce, jobContext, note } from './job-context.ts'
import { receivableFields } from './parts.tsx'

const common = { family: 'acceptance', area: 'acceptance' } as const
const REF: FormField = {
  name: 'receivableRef',
  label: 'Receivable',
  hint: 'your own reference, the same for all records of this receivable',
  isRequired: true,
}
const HASH: FormItem = {
  summary: 'Add the hash of a document',
  items: [{ name: 'documentSha256', label: 'SHA-256 of a document', kind: 'hash' }],
}

/** The present minute by default. */
function atField({ deps }: Context): FormField {
  const value = new Date(toMillis(deps.now())).toISOString().slice(0, 16)
  return { ...instantField('at', 'Date and time'), value, hint: 'Indian time is 5 h 30 min ahead of UTC' }
}

const pageOf = (ref: string) => `/acceptance/receivables/${encodeURIComponent(ref)}`

function optional({ demo: _demo, options, ...one }: FormField): FormField {
  return { ...one, isRequired: false, ...(options && { options: [{ value: '', label: '—' }, ...options], value: '' }) }
}

export function acceptanceForms(pages: Pages): void {
  recordForms(pages)
  jobForms(pages)
}

function recordForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/acceptance/record',
    title: 'Record the answer of a buyer',
    intro: 'The record is anchored and gets the tier of its source.',
    button: 'Record',
    fields: async (context) => [
      REF,
      codeField('action', 'Answer', AcceptanceBody.shape.action.options, 'ACCEPTED'),
      { name: 'amountAccepted', label: 'Accepted amount (₹)', kind: 'number', hint: 'if the answer states one' },
      atField(context),
      codeField('channel', 'Source', AcceptanceBody.shape.channel.options, 'IMS'),
      codeField('declaredBy', 'Declared by', ['LENDER', 'SUPPLIER'], 'LENDER'),
      HASH,
      {
        summary: 'Add the invoice, to compare with the registry and to compute the dilution',
        items: receivableFields('receivable.').map(optional),
      },
    ],
    schema: AcceptanceBody,
    async submit(sent) {
      const { receivableRef } = sent.body
      await runAcceptanceRecord(jobContext(sent), sent.body, (tx) =>
        note(tx, sent.context, sent.console, 'acceptance.recorded', receivableRef),
      )
      return pageOf(receivableRef)
    },
  })
  evidenceForm(pages, {
    ...common,
    path: '/acceptance/adjust',
    title: 'Record an adjustment',
    intro: 'A credit note, a payment, a deduction or another change of the amount that is due.',
    button: 'Record',
    fields: async (context) => [
      REF,
      codeField('kind', 'Type', ADJUSTMENT_KINDS, 'CREDIT_NOTE'),
      { name: 'amountInr', label: 'Amount (₹)', kind: 'number', isRequired: true },
      atField(context),
      { name: 'reference', label: 'Number', hint: 'of the note or payment' },
      HASH,
    ],
    schema: AdjustmentBody,
    async submit(sent) {
      const { context, console, body } = sent
      const { now, secrets } = context.deps
      refuseFuture(body.at, toMillis(now()))
      return await doOnce(sent, async (tx, enqueue) => {
        await recordAdjustment(tx, console, body, { enqueue, now, secrets })
        await note(tx, context, console, 'acceptance.adjusted', body.receivableRef)
        return pageOf(body.receivableRef)
      })
    },
  })
}

function jobForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/acceptance/ask',
    title: 'Ask the buyer',
    intro:
      'The buyer receives a link by e-mail that shows number, date and amount. To answer, the buyer enters a code that is sent to the same mailbox.',
    button: 'Send the question',
    fields: [
      REF,
      { name: 'buyerEmail', label: 'E-mail address of the buyer', kind: 'email', isRequired: true },
      ...receivableFields('receivable.'),
    ],
    schema: BuyerRequestBody,
    async submit(sent) {
      const { context, console, body } = sent
      const { secrets, config } = context.deps
      refuseWithoutMail(console, context.deps)
      const next = pageOf(body.receivableRef)
      return await doOnce(sent, async (tx, enqueue) => {
        const { sandboxUrl } = await requestBuyerAcceptance(tx, console, body, { enqueue, secrets, config })
        await note(tx, context, console, 'acceptance.requested', body.receivableRef)
        const flash =
          sandboxUrl === undefined ? { notice: 'The buyer receives a mail with the question.' } : { secret: sandboxUrl }
        setFlash(context, console.base + next, flash)
        return next
      })
    },
  })
  evidenceForm(pages, {
    ...common,
    family: 'risk-signals',
    path: '/acceptance/measure',
    title: 'Dilution of a pair',
    intro:
      'Shows how much of the invoiced amount was credited later. Measured from the tax return of the supplier, once a day.',
    button: 'Measure',
    fields: receivableFields().filter(({ name }) => name.endsWith('Gstin')),
    schema: DilutionQuery,
    async submit(sent) {
      await runDilution(jobContext(sent), sent.body)
      const { supplierGstin, buyerGstin } = sent.body
      return `/acceptance/dilution?${new URLSearchParams({ supplierGstin, buyerGstin })}`
    },
  })
}
