import { z } from 'zod'
import { type FieldError, ValidationError } from '#shared/errors.ts'
import { validateGstin } from '#shared/risk/identifiers/gstin.ts'
import { requestPack } from '#shared/risk/operations/packs.ts'
import { parsePackRequest } from '#shared/risk/packs/request.ts'
import { packScenarios, withScenario } from '#shared/risk/registries/sandbox/scenarios.ts'
import type { FormField, FormItem } from '../forms/fields.tsx'
import { personOf } from '../shell/audit.ts'
import type { Pages } from '../shell/context.ts'
import { evidenceForm, type Sent, type Typed } from './evidence/form.tsx'

const REQUIRED: readonly FormField[] = [
  { name: 'buyerGstin', label: 'Buyer (GSTIN)', value: '27AAACB1234C1ZF', isMono: true, isRequired: true },
  { name: 'borrowerGstin', label: 'Borrower (GSTIN)', value: '29AAACR5678D1Z5', isMono: true, isRequired: true },
  {
    name: 'subcontractorGstin',
    label: 'Subcontractor (GSTIN)',
    value: '24AAFFS4321K1ZA',
    isMono: true,
    isRequired: true,
  },
  { name: 'poValue', label: 'Purchase order value (₹)', kind: 'number', value: '1250000', isRequired: true },
]

const OPTIONAL: readonly FormField[] = [
  {
    name: 'subcontractValue',
    label: 'Subcontract value (₹)',
    kind: 'number',
    hint: 'default: the value of the purchase order',
  },
  { name: 'dealId', label: 'Deal', hint: 'your own number for it' },
  { name: 'poNumber', label: 'Purchase order number', hint: 'matched in the first-financing registry' },
  { name: 'poDate', label: 'Purchase order date', kind: 'date' },
]

const PARTIES = [
  { value: 'borrowerGstin', label: 'The borrower' },
  { value: 'buyerGstin', label: 'The buyer' },
  { value: 'subcontractorGstin', label: 'The subcontractor' },
] as const

const SCENARIOS = [
  { value: '', label: 'None: every registry answers normally' },
  ...packScenarios.map(({ digits, words }) => ({ value: digits, label: `${capital(words)} (${digits})` })),
]

const AMOUNTS: ReadonlySet<string> = new Set(['poValue', 'subcontractValue'])

const ITEMS: readonly FormItem[] = [
  ...REQUIRED,
  {
    legend: 'Scenario of the sandbox',
    items: [
      {
        content: (
          <p class="hint">
            In the sandbox, the last two digits of a party's PAN choose the scenario. The form sets them for you.
          </p>
        ),
      },
      {
        class: 'pair',
        items: [
          { name: 'scenario', label: 'Scenario', kind: 'select', options: SCENARIOS },
          { name: 'scenarioOf', label: 'Party', kind: 'select', options: PARTIES, value: 'borrowerGstin' },
        ],
      },
    ],
  },
  { summary: 'More about the deal', items: OPTIONAL },
]

/** Requests a sandbox pack with the validation, job and composer of the API. */
export function newPackPages(pages: Pages): void {
  evidenceForm(pages, {
    path: '/packs/new',
    family: 'risk-signals',
    area: 'packs',
    title: 'New sandbox pack',
    isSandboxOnly: true,
    fields: ITEMS,
    button: 'Request pack',
    schema: z.record(z.string(), z.union([z.string(), z.number()])),
    complete: packBody,
    errorText,
    submit,
  })
}

/** Replaces the registration of the chosen party by one with the scenario, unless it is invalid. */
function packBody({ scenario, scenarioOf, ...body }: Typed): Typed {
  const party = PARTIES.find(({ value }) => value === scenarioOf)?.value
  const known = packScenarios.find(({ digits }) => digits === scenario)
  if (!party || !known) return { mode: 'DEMO', ...body }
  const registration = validateGstin(String(body[party] ?? ''))
  const changed = registration.valid && { [party]: withScenario(registration.value, known.digits) }
  return { mode: 'DEMO', ...body, ...changed }
}

async function submit({ context, console, body, once }: Sent<Record<string, unknown>>): Promise<string> {
  const parsed = parsePackRequest(body, { sandboxRegistrations: true })
  if (!parsed.ok) throw new ValidationError('the request is invalid', parsed.errors)
  const { organisationId, env } = console
  const job = { caller: { organisationId, env }, deps: context.deps, once, waitMs: 0 }
  const { packId, replay } = await requestPack(personOf(context, console.session), job, parsed.request)
  const stored: unknown = replay ? JSON.parse(replay.body).packId : packId
  return `/packs/${stored}`
}

/** Removes the API's field names, because labels are on the page. */
function errorText({ path, message }: FieldError): string {
  if (AMOUNTS.has(path) && message.endsWith('must be a number')) {
    return 'Must be an amount in rupees, such as 12,50,000.'
  }
  const text = message.startsWith(`${path} `) ? message.slice(path.length + 1) : message
  const other = PARTIES.find(({ value }) => text.endsWith(` ${value}`))
  const named = other ? `${text.slice(0, -other.value.length)}${other.label.toLowerCase()}’s` : text
  return `${capital(named)}.`
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
