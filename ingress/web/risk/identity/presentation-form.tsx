import { NotConfiguredError, ValidationError } from '#shared/errors.ts'
import type { PresentationQuery } from '#shared/risk/credentials/query.ts'
import { QUERY_TEMPLATES } from '#shared/risk/credentials/query.ts'
import { listIssuers } from '#shared/risk/identity/issuer-store.ts'
import { RESPONSE_MODES } from '#shared/risk/identity/presentation.ts'
import { PresentationBody } from '#shared/risk/identity/requests.ts'
import { requestPresentation } from '#shared/risk/operations/presentations.ts'
import type { FormItem } from '../../forms/fields.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import type { Console } from '../console.tsx'
import { evidenceForm, jsonOf, listOf, type Typed } from '../evidence/form.tsx'
import { change, common, ownerOf } from './change.ts'
import { REQUEST } from './parts.tsx'
import { subjectField } from './subject-field.ts'

const COMPANY = 'company-basic'
const PERSON = 'person'
const OTHER = 'other'

/** The type of a European identity wallet: ARF, PID Rulebook, encoding as SD-JWT VC. */
const PERSON_TYPE = 'urn:eudi:pid:1'
const [COMPANY_TYPE] = QUERY_TEMPLATES[COMPANY].credentials.flatMap(({ meta }) => meta.vct_values)

function queryOf(id: string, type: string, fields: readonly string[]): PresentationQuery {
  const claims = fields.map((field) => ({ path: field.split('.') }))
  return { credentials: [{ id, format: 'dc+sd-jwt', meta: { vct_values: [type] }, claims }] }
}

const PERSON_QUERY = queryOf('person', PERSON_TYPE, ['given_name', 'family_name', 'birthdate'])

/** Offers the known credential types, those of trusted issuers, and a query as JSON. */
async function requestFields(context: Context, console: Console): Promise<readonly FormItem[]> {
  const { organisationId, env } = console
  const { db } = context.deps
  const issuers = await Promise.all([
    listIssuers(db, { organisationId, env }),
    listIssuers(db, { organisationId: null, env }),
  ])
  const trusted = new Set(issuers.flat().flatMap(({ vctValues }) => vctValues))
  const typeHint = (type = '') =>
    env === 'SANDBOX' || trusted.has(type) ? `Type ${type}` : `Type ${type}. You trust no issuer of it yet.`
  return [
    {
      name: 'purpose',
      label: 'Purpose',
      hint: 'shown to the holder of the wallet',
      isRequired: true,
      demo: 'opening an account',
    },
    {
      name: 'template',
      label: 'Requested credential',
      kind: 'radios',
      options: [
        { value: COMPANY, label: 'Company: legal name and GSTIN', hint: typeHint(COMPANY_TYPE) },
        { value: PERSON, label: 'Person: name and date of birth', hint: typeHint(PERSON_TYPE) },
        { value: OTHER, label: 'Another credential', hint: 'You enter its type and its fields.' },
      ],
      value: COMPANY,
    },
    {
      legend: 'The other credential',
      class: 'for-other-type',
      items: [
        { content: <KnownTypes types={[...trusted]} /> },
        {
          name: 'type',
          label: 'Type',
          hint: 'the vct of the credential, for example urn:eudi:pid:1',
          list: 'known-types',
        },
        { name: 'claims', label: 'Fields', hint: 'separated by commas, for example legalName, address.country' },
      ],
    },
    await subjectField(context, console, { isRequired: false, hint: 'the person or company that answers' }),
    {
      summary: 'More options',
      items: [
        {
          name: 'responseMode',
          label: 'Response of the wallet',
          kind: 'select',
          options: modes,
          value: 'direct_post.jwt',
        },
        {
          name: 'retainHours',
          label: 'Delete the values after (hours)',
          kind: 'number',
          value: '24',
          hint: '0 to 720. The result of the verification stays.',
        },
        { name: 'dealId', label: 'Deal', hint: 'your own number for it' },
      ],
    },
    {
      summary: 'Advanced: write the query yourself',
      items: [
        {
          name: 'query',
          label: 'Query',
          kind: 'lines',
          hint: 'DCQL, as JSON. Replaces the choice above.',
          isMono: true,
          rows: 8,
          parse: jsonOf,
        },
      ],
    },
  ]
}

function KnownTypes({ types }: { types: readonly string[] }) {
  return (
    <datalist id="known-types">
      {types.map((type) => (
        <option key={type} value={type} />
      ))}
    </datalist>
  )
}

const modes = RESPONSE_MODES.map((value) => ({ value, label: value.endsWith('jwt') ? 'encrypted' : 'not encrypted' }))

/** Converts the choices of the form to the template or query of the API. */
function bodyOf({ template = COMPANY, type = '', claims = '', ...body }: Typed): Typed {
  if ('query' in body) return body
  if (template === PERSON) return { ...body, query: PERSON_QUERY }
  const fields = listOf(String(claims))
  if (template !== OTHER) return { ...body, template }
  const errors = [
    ...(type === '' ? [{ path: 'type', code: 'REQUIRED', message: 'Enter the type of the credential.' } as const] : []),
    ...(fields.length === 0
      ? [{ path: 'claims', code: 'REQUIRED', message: 'Enter at least one field.' } as const]
      : []),
  ]
  if (errors.length > 0) throw new ValidationError('the requested credential is incomplete', errors)
  return { ...body, query: queryOf('credential', String(type), fields) }
}

export function presentationForm(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/identity/ask',
    title: REQUEST,
    intro: 'Next, you get a page with a QR code. The holder scans it and confirms within five minutes.',
    button: 'Create the request',
    fields: requestFields,
    schema: PresentationBody,
    complete: bodyOf,
    async submit(sent) {
      const { context, console, body } = sent
      const { config, risk } = context.deps
      const signer = await risk.requestSigner(console.env)
      if (!signer) throw new NotConfiguredError('requests to wallets are not configured')
      return await change(sent, 'presentation.requested', async (tx, deps) => {
        const given = { ...deps, clientId: signer.clientId, publicUrl: config.publicUrl }
        const { presentationId } = await requestPresentation(tx, ownerOf(sent), body, given)
        return { next: `/identity/presentations/${presentationId}`, target: presentationId }
      })
    },
  })
}
