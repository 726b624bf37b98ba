import type { Knex } from 'knex'
import { z } from 'zod'
import { NotFoundError } from '#shared/errors.ts'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { listEntityPassports } from '#shared/risk/businesses/passport-store.ts'
import {
  ErasureBody,
  MembershipBody,
  OwnersBody,
  PassportBody,
  VerificationBody,
} from '#shared/risk/businesses/requests.ts'
import { findEntity, listIdentifiers } from '#shared/risk/businesses/store.ts'
import {
  BUSINESS_VERIFICATIONS,
  requireEntity,
  runBusinessVerification,
  runEntityVerification,
} from '#shared/risk/operations/business-requests.ts'
import { issuePassport, revokePassport } from '#shared/risk/operations/entity-passport.ts'
import { changeMembership, eraseEntity, stateOwners } from '#shared/risk/operations/record-entity.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import { isUuid } from '#shared/uuid.ts'
import { Crumb, Fact } from '../../shell/basics.tsx'
import type { Context, Pages } from '../../shell/context.ts'
import { NextAction } from '../actions.tsx'
import { CONSOLE, type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { showBusinesses } from './business-list.tsx'
import { ChecksResult, entityName } from './entity-name.tsx'
import { showEntity } from './entity-page.tsx'
import { codeField, evidenceForm, numberOf, type Sent } from './form.tsx'
import { doOnce, idOf, jobContext, note } from './job-context.ts'
import { Checks, sendPending, type Verification } from './parts.tsx'
import { proveRecord, RecordAnchor } from './record-anchor.tsx'

export function businessPages(pages: Pages): void {
  pages.get(`${CONSOLE}/businesses`, showBusinesses)
  // Before the page whose parameter would take `verify` for an identifier.
  verifyForms(pages)
  recordForms(pages)
  pages.get(`${CONSOLE}/businesses/verifications/:id`, showVerification)
  pages.get(`${CONSOLE}/businesses/:vei`, showEntity)
}

async function showVerification(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { deps, params } = context
  const job = {
    kind: 'kyb.verification',
    folder: BUSINESS_VERIFICATIONS,
    id: params.id ?? '',
    what: 'verification',
  } as const
  const answer = await readOutcome(deps, console, job)
  const page = { title: 'Verification', area: 'businesses' } as const
  if (answer.status === 202) return sendPending(context, console, page)
  // Stored as we anchored it.
  const verification = JSON.parse(answer.body) as Verification
  const proven = await proveRecord(deps.db, verification)
  const entity = verification.vei === null ? undefined : await namedEntity(deps.db, console, verification.vei)
  sendConsole(
    context,
    console,
    page,
    <>
      <Crumb href={`${console.base}/businesses`} label="Businesses" />
      <h1>
        Verification{entity && ` of ${entityName(entity)}`} <ChecksResult checks={verification.checks} />
      </h1>
      <dl class="facts">
        {verification.vei !== null && (
          <Fact title="Entity identifier">
            <a class="mono" href={`${console.base}/businesses/${verification.vei}`}>
              {verification.vei}
            </a>
          </Fact>
        )}
        <Fact title="Verified">{instantText(verification.timestamp)}</Fact>
      </dl>
      <Checks checks={verification.checks} />
      {verification.vei !== null && mayIn(console, 'edit') && (
        <NextAction
          context={context}
          text="A passport proves these results to others, without the registries."
          actions={[
            { href: `${console.base}/businesses/${verification.vei}`, label: 'Open the business' },
            { href: `${console.base}/businesses/${verification.vei}/passports/issue`, label: 'Issue a passport' },
          ]}
        />
      )}
      <RecordAnchor proven={proven} publicUrl={deps.config.publicUrl} env={console.env} />
    </>,
  )
}

async function namedEntity(db: Knex, console: Console, vei: string) {
  const entity = await findEntity(db, console, vei)
  return entity && { ...entity, identifiers: await listIdentifiers(db, entity.id) }
}

const common = { family: 'kyb', area: 'businesses' } as const
const ENTITY = '/businesses/:vei'

function verifyForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/businesses/verify',
    title: 'Verify a business',
    intro: 'Enter at least one identifier. A value that no registry returns is shown as missing, with the reason.',
    button: 'Verify',
    fields: [
      {
        name: 'gstin',
        label: 'GSTIN',
        hint: 'Tax registration, 15 characters.',
        isMono: true,
        demo: '29AAACR5678D1Z5',
      },
      {
        name: 'cin',
        label: 'CIN',
        hint: 'Company number, 21 characters.',
        isMono: true,
        demo: 'U28999MH2015PTC123456',
      },
      { name: 'llpin', label: 'LLPIN', hint: 'Number of a partnership with limited liability.', isMono: true },
      { name: 'pan', label: 'PAN', hint: 'Tax account, 10 characters.', isMono: true },
      { name: 'udyam', label: 'Udyam number', hint: 'Registration of a small business.', isMono: true },
      { name: 'lei', label: 'LEI', hint: 'Legal Entity Identifier, 20 characters.', isMono: true },
      {
        name: 'legalName',
        label: 'Legal name',
        hint: 'Compared with the names in the registries.',
        demo: 'Synthetic Components Private Limited',
      },
      { name: 'dealId', label: 'Deal', hint: 'Optional: your own number for the deal.' },
    ],
    schema: VerificationBody,
    async submit(sent) {
      const answer = await runBusinessVerification(jobContext(sent), sent.body, (tx) =>
        note(tx, sent.context, sent.console, 'business.verified', ''),
      )
      return `/businesses/verifications/${idOf(answer, 'verificationId')}`
    },
  })
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/verify`,
    title: 'Verify again',
    intro: 'Queries the registries again by the known identifiers of this business.',
    button: 'Verify',
    fields: [],
    schema: z.strictObject({}),
    async submit(sent) {
      const vei = sent.context.params.vei ?? ''
      const answer = await runEntityVerification(jobContext(sent), vei, (tx) =>
        note(tx, sent.context, sent.console, 'business.verified', vei),
      )
      return `/businesses/verifications/${idOf(answer, 'verificationId')}`
    },
  })
}

/** Runs an operation on the entity of the path. */
async function change<Body>(
  sent: Sent<Body>,
  action: string,
  work: (given: {
    tx: Parameters<typeof stateOwners>[0]
    entity: Awaited<ReturnType<typeof requireEntity>>
    deps: Parameters<typeof stateOwners>[4]
  }) => Promise<unknown>,
): Promise<string> {
  const { context, console } = sent
  const { now, secrets } = context.deps
  return await doOnce(sent, async (tx, enqueue) => {
    const entity = await requireEntity(tx, console, context.params.vei ?? '')
    await work({ tx, entity, deps: { enqueue, now, secrets } })
    await note(tx, context, console, action, entity.vei)
    return `/businesses/${entity.vei}`
  })
}

function recordForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/memberships/change`,
    title: 'Membership of a consortium',
    intro: 'Records that the business joins or leaves a consortium, or changes its role. The record is anchored.',
    button: 'Record',
    fields: [
      { name: 'organisation', label: 'Organisation', hint: 'The consortium, for example its name.', isRequired: true },
      { name: 'role', label: 'Role', hint: 'For example: lender.', isRequired: true },
      codeField('action', 'Change', ['JOIN', 'CHANGE', 'LEAVE'], 'JOIN'),
      { name: 'effectiveOn', label: 'From', kind: 'date' },
    ],
    schema: MembershipBody,
    submit: async (sent) =>
      await change(sent, 'business.membership-changed', async ({ tx, entity, deps }) => {
        const veiKey = await sent.context.deps.risk.veiKey(sent.console.env)
        await changeMembership(tx, sent.console, entity, sent.body, { ...deps, veiKey })
      }),
  })
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/owners/state`,
    title: 'Owners',
    intro: 'Names are encrypted; the record has their commitments, and this console shows references.',
    button: 'Record',
    fields: [
      {
        name: 'owners',
        label: 'Owners',
        kind: 'lines',
        hint: 'One per line: name; PERSON or BUSINESS; holding; basis of control. Example: Asha Rao; PERSON; 60 %; shares',
        isRequired: true,
        parse: ownersOf,
      },
    ],
    schema: OwnersBody,
    submit: async (sent) =>
      await change(sent, 'business.owners-stated', ({ tx, entity, deps }) =>
        stateOwners(tx, sent.console, entity, sent.body, deps),
      ),
  })
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/passports/issue`,
    title: 'Issue a passport',
    intro: 'The passport contains the results of the newest verification, without names.',
    button: 'Issue',
    fields: [
      { name: 'purpose', label: 'Purpose', hint: 'For example: onboarding at a bank.', isRequired: true },
      { name: 'validForDays', label: 'Valid for (days)', kind: 'number', value: '180' },
    ],
    schema: PassportBody,
    submit: async (sent) =>
      await change(sent, 'business.passport-issued', async ({ tx, entity, deps }) => {
        const { risk, config } = sent.context.deps
        const signingKey = await risk.passportKey(sent.console.env)
        const given = { ...deps, publicUrl: config.publicUrl, signingKey }
        return await issuePassport(tx, sent.console, entity, sent.body, given)
      }),
  })
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/passports/:passport/revoke`,
    title: 'Revoke a passport',
    intro: 'Its status list shows it at once.',
    button: 'Revoke',
    confirm: 'Revoke this passport for good?',
    fields: [{ name: 'reason', label: 'Reason', isRequired: true }],
    schema: ErasureBody,
    submit: async (sent) =>
      await change(sent, 'business.passport-revoked', async ({ tx, entity, deps }) => {
        const id = sent.context.params.passport ?? ''
        const isOwn = isUuid(id) && (await listEntityPassports(tx, entity.id)).some((one) => one.id === id)
        if (!isOwn) throw new NotFoundError('There is no such passport.')
        await revokePassport(tx, sent.console, id, sent.body.reason, deps)
      }),
  })
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/erase`,
    title: 'Erase a person',
    intro: 'Identifiers, names and salts are deleted for good. Anchored hashes stay, without any readable value.',
    button: 'Erase for good',
    confirm: 'Erase this person for good? Deleted data cannot be restored.',
    fields: [{ name: 'reason', label: 'Reason', isRequired: true }],
    schema: ErasureBody,
    submit: async (sent) =>
      await change(sent, 'business.erased', ({ tx, entity, deps }) => eraseEntity(tx, sent.console, entity, deps)),
  })
}

/** Parses one owner per line; the schema refuses missing parts. */
function ownersOf(text: string): unknown[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [name = '', kind = '', holding = '', controlBasis = ''] = line.split(';').map((part) => part.trim())
    return { name, kind: kind.toUpperCase(), holdingBps: bpsOf(holding), controlBasis }
  })
}

/** Converts `60 %` and accepts basis points. Returns other text unchanged, for the schema to refuse. */
function bpsOf(holding: string): number | string {
  if (!holding.endsWith('%')) return numberOf(holding)
  const percent = numberOf(holding.slice(0, -1).trim())
  return typeof percent === 'number' ? Number((percent * 100).toFixed(6)) : holding
}
