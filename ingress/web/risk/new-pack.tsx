import { randomUUID } from 'node:crypto'
import { ForbiddenError, NotFoundError } from '#shared/errors.ts'
import { requestPack } from '#shared/risk/operations/request-pack.ts'
import { parsePackRequest } from '#shared/risk/packs/request.ts'
import { listEntitlements } from '#shared/risk/risk-console/store.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/fingerprint.ts'
import { isUuid } from '#shared/uuid.ts'
import { pendingAnswer } from '../../risk/packs/pack-answer.ts'
import { Form, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { personOf } from '../frame/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../frame/context.ts'
import { CONSOLE, type Console, openConsole, sendConsole } from './console.tsx'

const FIELDS = [
  { name: 'buyerGstin', label: 'Buyer (GSTIN)', value: '27AAACB1234C1ZF', isMono: true },
  { name: 'borrowerGstin', label: 'Borrower (GSTIN)', value: '29AAACR5678D1Z5', isMono: true },
  { name: 'subcontractorGstin', label: 'Subcontractor (GSTIN)', value: '24AAFFS4321K1ZA', isMono: true },
  { name: 'poValue', label: 'Purchase order value (₹)', value: '1250000', isMono: false },
] as const

const OPTIONAL = [
  { name: 'subcontractValue', label: 'Subcontract value (₹)', hint: 'that of the purchase order when empty' },
  { name: 'dealId', label: 'Deal', hint: 'your own number for it' },
  { name: 'poNumber', label: 'Purchase order number', hint: 'matched in the first-financing registry' },
  { name: 'poDate', label: 'Purchase order date', hint: 'YYYY-MM-DD' },
] as const

const AMOUNTS: ReadonlySet<string> = new Set(['poValue', 'subcontractValue'])

/** Requests a sandbox pack as the API does: the same rules, the same job, the same composer. */
export function newPackPages(pages: Pages): void {
  pages.get(`${CONSOLE}/packs/new`, async (context) => {
    const console = await openSandbox(context)
    showForm(context, console, Object.fromEntries(FIELDS.map(({ name, value }) => [name, value])), new Map())
  })
  pages.post(`${CONSOLE}/packs/new`, submit)
}

async function openSandbox(context: Context): Promise<Console> {
  const console = await openConsole(context, 'edit')
  if (console.env !== 'SANDBOX') throw new NotFoundError('Live packs are requested through the API.')
  // The same as for a token: what the organisation is not entitled to, its people are not either.
  const families = await listEntitlements(context.deps.db, console.organisationId)
  if (!families.some(({ family }) => family === 'risk-signals')) {
    throw new ForbiddenError('Your organisation is not entitled to risk signals; the operator can grant that.')
  }
  return console
}

function showForm(
  context: Context,
  console: Console,
  values: Readonly<Record<string, string>>,
  errors: ReadonlyMap<string, string>,
): void {
  sendConsole(
    context,
    console,
    { title: 'New pack', tab: 'packs' },
    <>
      <h1>New sandbox pack</h1>
      <Problem text={errors.size > 0 ? 'Some fields need another value.' : null} />
      <Form context={context} action={`${console.base}/packs/new`} class="card stack check-form">
        {/* Sent twice, it is one pack. */}
        <input type="hidden" name="requestKey" value={values.requestKey ?? randomUUID()} />
        {FIELDS.map(({ name, label, isMono }) => (
          <TextField
            key={name}
            label={label}
            name={name}
            value={values[name]}
            isMono={isMono}
            error={errors.get(name)}
            required
          />
        ))}
        <details class="more">
          <summary>More about the deal</summary>
          <div class="stack">
            {OPTIONAL.map(({ name, label, hint }) => (
              <TextField
                key={name}
                label={label}
                name={name}
                value={values[name]}
                hint={hint}
                error={errors.get(name)}
              />
            ))}
          </div>
        </details>
        <p class="hint">
          The last two digits of a party's PAN choose what its registries answer, for instance 01 for declining trade or
          12 for a revoked consent. The documentation of the sandbox lists them.
        </p>
        <div class="form-foot">
          <button class="primary" type="submit">
            Request pack
          </button>
          <a class="button" href={`${console.base}/packs`}>
            Cancel
          </a>
        </div>
      </Form>
    </>,
    errors.size > 0 ? 422 : 200,
  )
}

async function submit(context: FormContext): Promise<void> {
  const console = await openSandbox(context)
  const { deps, form } = context
  const names = [...FIELDS, ...OPTIONAL].map(({ name }) => name)
  const values = Object.fromEntries(names.map((name) => [name, field(form, name)]))
  const given = Object.entries(values).filter(([, value]) => value !== '')
  const body = Object.fromEntries([
    ['mode', 'DEMO'],
    ...given.map(([name, value]) => [name, AMOUNTS.has(name) ? amountOf(value) : value]),
  ])
  const requestKey = field(form, 'requestKey')
  const parsed = parsePackRequest(body, { sandboxRegistrations: true })
  if (!parsed.ok) {
    const errors = new Map(parsed.errors.map(({ path, message }) => [path, besideField(path, message)]))
    return showForm(context, console, { ...values, requestKey }, errors)
  }
  if (!isUuid(requestKey)) throw new NotFoundError('This form is not one of ours.')
  const { organisationId, env } = console
  const packId = randomUUID()
  const scope = { organisationId, env, key: `page-${requestKey}` }
  const fingerprint = requestFingerprint({ method: 'POST', route: '/web/packs', params: {}, body })
  const provisional = pendingAnswer(packId)
  const job = { packId, owner: { organisationId, env }, scope, fingerprint, asked: parsed.request, provisional }
  const replay = await requestPack(personOf(context, console.session), { ...job, replyTo: null }, deps)
  const stored: unknown = replay ? JSON.parse(replay.body).packId : packId
  redirect(context, `${console.base}/packs/${stored}`)
}

/** A number where it is one; else the text, which the request's own rules refuse by name. */
function amountOf(text: string): number | string {
  const plain = text.replaceAll(',', '')
  return /^-?[0-9]+(\.[0-9]+)?$/.test(plain) ? Number(plain) : text
}

/** The field's own label stands above the message, so its name in the API is left out. */
function besideField(path: string, message: string): string {
  const text = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message
  return text.charAt(0).toUpperCase() + text.slice(1)
}
