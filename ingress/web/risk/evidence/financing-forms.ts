import type { z } from 'zod'
import {
  AcceptBody,
  BlindCheckBody,
  CheckBody,
  DisputeRequestBody,
  RegistrationRequestBody,
} from '#shared/risk/first-financing/requests.ts'
import { answerDispute } from '#shared/risk/operations/disputes.ts'
import {
  createTransferOffer,
  requireRegistration,
  runDispute,
  runFinancingCheck,
  runRegistration,
  runTransferAcceptance,
} from '#shared/risk/operations/financing-requests.ts'
import { moveRegistration } from '#shared/risk/operations/registrations.ts'
import type { FormField } from '../../forms/fields.tsx'
import { type FormContext, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import { CONSOLE } from '../console.tsx'
import { evidenceForm, jsonOf, requireFamily, type Sent } from './form.tsx'
import { idOf, jobContext, note } from './job-context.ts'
import { receivableFields } from './parts.tsx'

const FAMILY = 'first-financing'
const common = { family: FAMILY, area: 'financing' } as const
const STATEMENT: FormField = {
  name: 'statement',
  label: 'Anchor the result',
  kind: 'check',
  hint: 'Proves later that you checked, and what the result was',
}
const MOVED = {
  finance: 'The receivable is marked as financed.',
  release: 'The receivable is released.',
  cancel: 'The registration is cancelled.',
  renew: 'The registration is extended.',
} as const

export function financingForms(pages: Pages): void {
  checkForms(pages)
  holdForms(pages)
  for (const action of ['finance', 'release', 'cancel', 'renew'] as const) {
    pages.post(`${CONSOLE}/financing/:id/${action}`, (context) => move(context, action))
  }
  pages.post(`${CONSOLE}/financing/:id/transfer`, offer)
  for (const answer of ['confirm', 'release'] as const) {
    pages.post(`${CONSOLE}/financing/disputes/:id/${answer}`, (context) => answerOpen(context, answer))
  }
}

const noted = (sent: Pick<Sent<unknown>, 'context' | 'console'>, action: string) => (tx: Parameters<typeof note>[0]) =>
  note(tx, sent.context, sent.console, action, '')

function checkForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/financing/check',
    title: 'Check a receivable',
    intro:
      'Compares the receivable with all registrations. The result shows only whether one exists: no names, amounts or days.',
    button: 'Check',
    fields: [
      ...receivableFields(),
      {
        name: 'window',
        label: 'Also find receivables with a similar date and amount',
        kind: 'check',
        hint: 'The same parties and amount, in the same week',
      },
      STATEMENT,
    ],
    schema: CheckBody,
    async submit(sent) {
      const answer = await runFinancingCheck(jobContext(sent), sent.body, noted(sent, 'receivable.checked'))
      return `/financing/checks/${idOf(answer, 'checkId')}`
    },
  })
  evidenceForm(pages, {
    ...common,
    path: '/financing/check-blind',
    title: 'Check by fingerprints',
    intro:
      'For receivables that must not leave your systems: you send fingerprints only. The program examples/blind-financing prints them with --print.',
    button: 'Check',
    fields: [
      {
        name: 'fingerprints',
        label: 'Fingerprints',
        kind: 'lines',
        hint: 'the JSON that the program prints: a list of epoch, rf1, rf2 and rf3',
        isMono: true,
        rows: 6,
        isRequired: true,
        parse: jsonOf,
      },
      STATEMENT,
    ],
    schema: BlindCheckBody,
    async submit(sent) {
      const answer = await runFinancingCheck(jobContext(sent), sent.body, noted(sent, 'receivable.checked-blind'))
      return `/financing/checks/${idOf(answer, 'checkId')}`
    },
  })
  evidenceForm(pages, {
    ...common,
    path: '/financing/dispute',
    title: 'Dispute a receivable',
    intro: 'The holder is notified and has seven days to confirm or release. There is no arbitration.',
    button: 'Dispute',
    fields: [
      ...receivableFields('receivable.'),
      { name: 'reason', label: 'Reason', hint: 'stored encrypted', isRequired: true },
      {
        summary: 'Add the hash of your evidence',
        items: [{ name: 'evidenceSha256', label: 'SHA-256 of your evidence', kind: 'hash' }],
      },
    ],
    schema: DisputeRequestBody,
    async submit(sent) {
      const answer = await runDispute(jobContext(sent), sent.body, noted(sent, 'receivable.disputed'))
      return `/financing/disputes/${idOf(answer, 'disputeId')}`
    },
  })
}

function holdForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/financing/register',
    title: 'Register a receivable',
    intro:
      'Only the first registration of a receivable succeeds. It is valid for seven days, longer once you have paid.',
    button: 'Register',
    fields: [
      ...receivableFields(),
      {
        name: 'dueDate',
        label: 'Due',
        kind: 'date',
        hint: 'A financed receivable stays registered for 180 days after it',
      },
      {
        summary: 'Your own references',
        items: [
          { name: 'dealId', label: 'Deal', hint: 'shown in your list of registrations' },
          { name: 'lenderRef', label: 'Reference', hint: 'stored encrypted' },
        ],
      },
    ],
    schema: RegistrationRequestBody,
    async submit(sent) {
      const answer = await runRegistration(jobContext(sent), sent.body, noted(sent, 'receivable.registered'))
      return `/financing/${idOf(answer, 'registrationId')}`
    },
  })
  evidenceForm<z.output<typeof AcceptBody>>(pages, {
    ...common,
    path: '/financing/accept',
    title: 'Accept a transfer',
    intro: 'Enter the token that the holder gave you. It works once, for its own receivable.',
    button: 'Accept the transfer',
    fields: [
      { name: 'transferToken', label: 'Transfer token', isMono: true, isRequired: true },
      ...receivableFields('receivable.'),
    ],
    schema: AcceptBody,
    async submit(sent) {
      const answer = await runTransferAcceptance(jobContext(sent), sent.body, noted(sent, 'receivable.taken-over'))
      return `/financing/${idOf(answer, 'registrationId')}`
    },
  })
}

async function move(context: FormContext, action: 'finance' | 'release' | 'cancel' | 'renew'): Promise<void> {
  const console = await requireFamily(context, FAMILY)
  const { outbox, now } = context.deps
  const id = context.params.id ?? ''
  await outbox.run(async (tx, enqueue) => {
    const registration = await requireRegistration(tx, console, id)
    await moveRegistration(tx, registration, action, {}, { enqueue, now })
    await note(tx, context, console, `registration.${action}`, id)
  })
  const path = `${console.base}/financing/${id}`
  setFlash(context, path, { notice: MOVED[action] })
  redirect(context, path)
}

/** The next page shows the token once. */
async function offer(context: FormContext): Promise<void> {
  const console = await requireFamily(context, FAMILY)
  const id = context.params.id ?? ''
  const { transferToken } = await context.deps.outbox.run(async (tx) => {
    await note(tx, context, console, 'registration.transfer', id)
    return await createTransferOffer(tx, console, id, context.deps)
  })
  const path = `${console.base}/financing/${id}`
  setFlash(context, path, { secret: transferToken })
  redirect(context, path)
}

async function answerOpen(context: FormContext, answer: 'confirm' | 'release'): Promise<void> {
  const console = await requireFamily(context, FAMILY)
  const { outbox, now } = context.deps
  const id = context.params.id ?? ''
  await outbox.run(async (tx, enqueue) => {
    await answerDispute(tx, console, id, answer === 'confirm' ? 'CONFIRM' : 'RELEASE', { enqueue, now })
    await note(tx, context, console, `dispute.${answer}`, id)
  })
  const path = `${console.base}/financing/disputes/${id}`
  setFlash(context, path, { notice: 'Your answer is recorded.' })
  redirect(context, path)
}
