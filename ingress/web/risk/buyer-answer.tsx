import { NotFoundError } from '#shared/errors.ts'
import {
  type BuyerRequest,
  type BuyerRequestDetails,
  buyerTokenText,
  CODE_MINUTES,
  MAX_CODES,
  requestState,
} from '#shared/risk/acceptance/buyer-request.ts'
import { findBuyerRequest } from '#shared/risk/acceptance/buyer-request-store.ts'
import type { ReceivableFields } from '#shared/risk/first-financing/receivable.ts'
import { answerBuyerRequest, sendBuyerCode } from '#shared/risk/operations/acceptances.ts'
import { dayText, inrFigure } from '#shared/risk/packs/pdf/figures.ts'
import { throttle } from '../account/throttle.ts'
import { Form } from '../forms/form.tsx'
import { TextField } from '../forms/inputs.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { sendPage } from '../shell/layout.tsx'
import { Problem } from '../shell/notice.tsx'
import { RiskStyle, SandboxBand } from './console.tsx'

const KINDS: Record<ReceivableFields['documentType'], string> = {
  INV: 'Invoice',
  CRN: 'Credit note',
  DBN: 'Debit note',
}

/**
 * Handles a buyer's acceptance or rejection of a document. GET changes nothing, because mail scanners follow links; the
 * answer needs a code that is mailed on request.
 */
export function buyerAnswerPages(pages: Pages): void {
  pages.get('/a/:token', async (context) => show(context, await openLink(context), null))
  pages.post('/a/:token/code', sendCode)
  pages.post('/a/:token/answer', answer)
}

const tokenOf = (context: Context) => context.params.token ?? ''

/** @throws NotFoundError alike for unknown and ended links */
async function openLink(context: Context): Promise<BuyerRequest> {
  const { db, secrets } = context.deps
  context.response.set('X-Robots-Tag', 'noindex, nofollow')
  const token = tokenOf(context)
  const request = token.length === 43 && (await findBuyerRequest(db, secrets.digests(buyerTokenText(token))))
  if (!request) throw new NotFoundError('There is no such link, or it does not work any more.')
  return request
}

async function sendCode(context: FormContext): Promise<void> {
  const { deps } = context
  await throttle(context, 'buyer-code', tokenOf(context))
  const code = await deps.outbox.run((tx, enqueue) => sendBuyerCode(tx, tokenOf(context), { ...deps, enqueue }))
  const path = `/a/${tokenOf(context)}`
  setFlash(context, path, {
    notice: `A code is on its way to your mailbox. It works for ${CODE_MINUTES} minutes.`,
    ...(code === null ? {} : { secret: code }),
  })
  redirect(context, path)
}

async function answer(context: FormContext): Promise<void> {
  const { deps, form } = context
  const token = tokenOf(context)
  const request = await openLink(context)
  const action = field(form, 'action')
  if (action !== 'ACCEPTED' && action !== 'REJECTED') return show(context, request, 'Choose one of the answers.')
  await throttle(context, 'buyer-answer', token)
  const input = { code: field(form, 'code').replaceAll(' ', ''), action } as const
  const result = await deps.outbox.run((tx, enqueue) => answerBuyerRequest(tx, token, input, { ...deps, enqueue }))
  if (result.isAnswered) return redirect(context, `/a/${token}`)
  show(context, await openLink(context), `The code is wrong or has expired. Attempts left: ${result.left}.`)
}

function show(context: Context, request: BuyerRequest, problem: string | null): void {
  const state = requestState({ ...request, isOver: request.sealedDetails === null })
  sendPage(
    context,
    { title: 'Do you accept this document?', isPublic: true },
    <>
      <RiskStyle />
      {request.env === 'SANDBOX' && <SandboxBand />}
      <section class="card narrow">
        <Content context={context} request={request} state={state} problem={problem} />
      </section>
    </>,
    problem === null ? 200 : 400,
  )
}

interface ContentProps {
  context: Context
  request: BuyerRequest
  state: ReturnType<typeof requestState>
  problem: string | null
}

function Content({ context, request, state, problem }: ContentProps) {
  if (state === 'ANSWERED') {
    return (
      <>
        <h1>Already answered</h1>
        <p>Your answer is recorded. It cannot be changed here.</p>
      </>
    )
  }
  if (state === 'LOCKED' || request.sealedDetails === null) {
    return (
      <>
        <h1>This link is locked</h1>
        <p>Too many wrong codes were entered. The lender can send another link.</p>
      </>
    )
  }
  // Encrypted by `requestBuyerAcceptance`.
  const details = JSON.parse(context.deps.secrets.open('acceptance', request.sealedDetails)) as BuyerRequestDetails
  const { documentType, documentNumber, documentDate, totalInr } = details.receivable
  const { notice, secret } = context.flash
  return (
    <>
      <h1>Do you accept this document?</h1>
      <p>A lender requests this. Your answer is stored as evidence that you gave it from this mailbox.</p>
      <dl class="facts">
        <Fact title={KINDS[documentType]} value={documentNumber} />
        <Fact title="Date" value={dayText(documentDate)} />
        <Fact title="Amount" value={inrFigure(totalInr)} />
      </dl>
      {notice !== undefined && (
        <p class="notice" role="status">
          {secret === undefined ? notice : `The sandbox sends no mail. Your code is ${secret}.`}
        </p>
      )}
      <Problem text={problem} />
      {request.isCodeLive && <AnswerForm context={context} />}
      {request.codesSent < MAX_CODES ? (
        <CodeForm context={context} isFirst={request.codesSent === 0} />
      ) : (
        <p class="muted">No further code is sent for this link. The lender can send another one.</p>
      )}
    </>
  )
}

function Fact({ title, value }: { title: string; value: string }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="breakable figure">{value}</dd>
    </div>
  )
}

function AnswerForm({ context }: { context: Context }) {
  return (
    <Form context={context} action={`/a/${tokenOf(context)}/answer`} class="stack">
      <TextField label="Code from the mail" name="code" autocomplete="one-time-code" maxLength={9} isMono required />
      <p class="row">
        <button type="submit" class="primary" name="action" value="ACCEPTED">
          I accept this document
        </button>
        <button type="submit" class="danger" name="action" value="REJECTED">
          I do not accept it
        </button>
      </p>
    </Form>
  )
}

function CodeForm({ context, isFirst }: { context: Context; isFirst: boolean }) {
  return (
    <Form context={context} action={`/a/${tokenOf(context)}/code`} class="stack">
      {isFirst && <p>To answer, have a code sent to the mailbox that got this link.</p>}
      <p>
        <button type="submit" class={isFirst ? 'primary' : ''}>
          {isFirst ? 'Send me a code' : 'Send another code'}
        </button>
      </p>
    </Form>
  )
}
