import { randomUUID } from 'node:crypto'
import { ForbiddenError, NotFoundError } from '#shared/errors.ts'
import { validateGstin } from '#shared/risk/identifiers/gstin.ts'
import { requestPack } from '#shared/risk/operations/packs.ts'
import { parsePackRequest } from '#shared/risk/packs/request.ts'
import { packScenarios, withScenario } from '#shared/risk/registries/sandbox/scenarios.ts'
import { listEntitlements } from '#shared/risk/risk-console/store.ts'
import { requestFingerprint } from '#shared/tenancy/idempotency/store.ts'
import { isUuid } from '#shared/uuid.ts'
import { Form, SelectField, TextField } from '../components/form.tsx'
import { Problem } from '../components/notice.tsx'
import { personOf } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'

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

const PARTIES = [
  { value: 'borrowerGstin', label: 'The borrower' },
  { value: 'buyerGstin', label: 'The buyer' },
  { value: 'subcontractorGstin', label: 'The subcontractor' },
] as const

const SCENARIOS = [
  { value: '', label: 'Nothing special' },
  ...packScenarios.map(({ digits, words }) => ({ value: digits, label: `${capital(words)} (${digits})` })),
]

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
  const console = await loadConsole(context, 'edit')
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
    { title: 'New pack', area: 'packs' },
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
        <fieldset>
          <legend>What the sandbox answers</legend>
          <p class="hint">
            The last two digits of a party's PAN choose it. They and the check character are set for you.
          </p>
          <div class="pair">
            <SelectField label="Scenario" name="scenario" value={values.scenario ?? ''} options={SCENARIOS} />
            <SelectField label="Of" name="scenarioOf" value={values.scenarioOf ?? 'borrowerGstin'} options={PARTIES} />
          </div>
        </fieldset>
        <details class="more" open={OPTIONAL.some(({ name }) => errors.has(name))}>
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
  const typed = Object.fromEntries(names.map((name) => [name, field(form, name)]))
  const values = withChosenScenario(typed, field(form, 'scenario'), field(form, 'scenarioOf'))
  const given = Object.entries(values).filter(([, value]) => value !== '')
  const body = Object.fromEntries([
    ['mode', 'DEMO'],
    ...given.map(([name, value]) => [name, AMOUNTS.has(name) ? amountOf(value) : value]),
  ])
  const requestKey = field(form, 'requestKey')
  const parsed = parsePackRequest(body, { sandboxRegistrations: true })
  if (!parsed.ok) {
    const errors = new Map(parsed.errors.map(({ path, message }) => [path, besideField(path, message)]))
    const chosen = { scenario: field(form, 'scenario'), scenarioOf: field(form, 'scenarioOf') }
    return showForm(context, console, { ...typed, ...chosen, requestKey }, errors)
  }
  if (!isUuid(requestKey)) throw new NotFoundError('This form is not one of ours.')
  const { organisationId, env } = console
  const scope = { organisationId, env, key: `page-${requestKey}` }
  const fingerprint = requestFingerprint({ method: 'POST', route: '/web/packs', params: {}, body })
  const job = { caller: { organisationId, env }, deps, once: { scope, fingerprint }, waitMs: 0 }
  const { packId, replay } = await requestPack(personOf(context, console.session), job, parsed.request)
  const stored: unknown = replay ? JSON.parse(replay.body).packId : packId
  redirect(context, `${console.base}/packs/${stored}`)
}

/** A number where it is one; else the text, which the request's own rules refuse by name. */
function amountOf(text: string): number | string {
  const plain = text.replaceAll(',', '')
  return /^-?[0-9]+(\.[0-9]+)?$/.test(plain) ? Number(plain) : text
}

/** The registration of the chosen party switches the scenario on; one that is none is refused as it was typed. */
function withChosenScenario(
  values: Readonly<Record<string, string>>,
  digits: string,
  party: string,
): Readonly<Record<string, string>> {
  const isKnown = packScenarios.some((one) => one.digits === digits) && PARTIES.some(({ value }) => value === party)
  const registration = validateGstin(values[party] ?? '')
  if (!isKnown || !registration.valid) return values
  return { ...values, [party]: withScenario(registration.value, digits) }
}

/** The field's own label stands above the message, so its name in the API is left out; so are those of other fields. */
function besideField(path: string, message: string): string {
  if (AMOUNTS.has(path) && message.endsWith('must be a number'))
    return 'Must be an amount in rupees, such as 12,50,000.'
  const text = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message
  const other = PARTIES.find(({ value }) => text.endsWith(` ${value}`))
  const named = other ? `${text.slice(0, -other.value.length)}${other.label.toLowerCase()}’s` : text
  return `${capital(named)}.`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
