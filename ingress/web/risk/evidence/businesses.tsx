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
import { findByIdentifierValue, findEntity, listEntities } from '#shared/risk/businesses/store.ts'
import { normaliseUpper } from '#shared/risk/identifiers/identifier.ts'
import { veiError } from '#shared/risk/identifiers/vei.ts'
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
import { MonoLink } from '../../lists/list.tsx'
import { readByTime } from '../../lists/paging.ts'
import { Ago, Fact } from '../../shell/basics.tsx'
import { type Context, type Pages, redirect } from '../../shell/context.ts'
import { Problem } from '../../shell/notice.tsx'
import { CONSOLE, type Console, loadConsole, sendConsole, sendList } from '../console.tsx'
import { showEntity } from './entity-page.tsx'
import { evidenceForm, numberOf, type Sent } from './form.tsx'
import { doOnce, idOf, jobContext, note } from './job-context.ts'
import { Checks, sendPending, type Verification } from './parts.tsx'
import { proveRecord, RecordAnchor } from './record-anchor.tsx'

export function businessPages(pages: Pages): void {
  pages.get(`${CONSOLE}/businesses`, showList)
  // Before the page whose parameter would take `verify` for an identifier.
  verifyForms(pages)
  recordForms(pages)
  pages.get(`${CONSOLE}/businesses/verifications/:id`, showVerification)
  pages.get(`${CONSOLE}/businesses/:vei`, showEntity)
}

async function showList(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const requested = (context.query.get('q') ?? '').trim().slice(0, 200)
  const found = requested === '' ? undefined : await search(db, console, requested)
  if (found) return redirect(context, `${console.base}/businesses/${found}`)
  const base = `${console.base}/businesses`
  sendList(context, console, {
    title: 'Businesses',
    area: 'businesses',
    path: '/businesses',
    actions: [['/verify', 'Verify a business']],
    intro: (
      <>
        <form method="get" action={base} class="row">
          <label for="q">Identifier</label>
          <input id="q" name="q" value={requested} maxLength={200} autocomplete="off" class="mono" />
          <button type="submit">Find</button>
        </form>
        <Problem text={requested !== '' && 'Nothing with this identifier has been verified here.'} />
      </>
    ),
    columns: [
      { title: 'Entity identifier', cell: ({ vei }) => <MonoLink href={`${base}/${vei}`} text={vei} /> },
      { title: 'Kind', cell: ({ isPerson }) => (isPerson ? 'person' : 'business') },
      { title: 'Since', cell: ({ micros }) => <Ago at={micros} now={now()} /> },
    ],
    empty: 'No business yet.',
    ...(await readByTime(
      context,
      (before, limit) => listEntities(db, console, before, limit),
      ({ id }) => id,
    )),
  })
}

/** Finds an entity by our identifier or by one of a registry. */
async function search(db: Knex, console: Console, requested: string): Promise<string | undefined> {
  const value = normaliseUpper(requested)
  const entity =
    (veiError(value) === null && (await findEntity(db, console, value))) ||
    (await findByIdentifierValue(db, console, value))
  return entity?.vei
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
  sendConsole(
    context,
    console,
    page,
    <>
      <h1>Verification</h1>
      <dl class="facts">
        {verification.vei !== null && (
          <Fact title="Business">
            <a class="mono" href={`${console.base}/businesses/${verification.vei}`}>
              {verification.vei}
            </a>
          </Fact>
        )}
        <Fact title="At">{instantText(verification.timestamp)}</Fact>
      </dl>
      <Checks checks={verification.checks} />
      <RecordAnchor proven={proven} publicUrl={deps.config.publicUrl} env={console.env} />
    </>,
  )
}

const common = { family: 'kyb', area: 'businesses' } as const
const ENTITY = '/businesses/:vei'

function verifyForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: '/businesses/verify',
    title: 'Verify a business',
    intro: 'One identifier is enough. A value that no registry returns is missing, with a reason.',
    button: 'Verify',
    fields: [
      { name: 'gstin', label: 'GSTIN', isMono: true, demo: '29AAACR5678D1Z5' },
      { name: 'cin', label: 'CIN', isMono: true, demo: 'U28999MH2015PTC123456' },
      { name: 'llpin', label: 'LLPIN', isMono: true },
      { name: 'pan', label: 'PAN', isMono: true },
      { name: 'udyam', label: 'Udyam number', isMono: true },
      { name: 'lei', label: 'LEI', isMono: true },
      { name: 'legalName', label: 'Legal name', demo: 'Synthetic Components Private Limited' },
      { name: 'dealId', label: 'Deal', hint: 'your own number for it' },
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
    title: 'Verify once more',
    intro: 'By the known identifiers of this business.',
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

const ACTIONS = [
  { value: 'JOIN', label: 'joins' },
  { value: 'CHANGE', label: 'changes its role' },
  { value: 'LEAVE', label: 'leaves' },
]

function recordForms(pages: Pages): void {
  evidenceForm(pages, {
    ...common,
    path: `${ENTITY}/memberships/change`,
    title: 'Membership of a consortium',
    button: 'Record',
    fields: [
      { name: 'organisation', label: 'Organisation', isRequired: true },
      { name: 'role', label: 'Role', isRequired: true },
      { name: 'action', label: 'What', kind: 'select', options: ACTIONS, value: 'JOIN' },
      { name: 'effectiveOn', label: 'From', hint: 'YYYY-MM-DD' },
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
        hint: 'One a line: name; PERSON or BUSINESS; basis points; basis of control',
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
    title: 'Passport',
    intro: 'What the newest verification found, without names.',
    button: 'Issue',
    fields: [
      { name: 'purpose', label: 'Purpose', isRequired: true },
      { name: 'validForDays', label: 'Valid for days', kind: 'number', value: '180' },
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
    return { name, kind: kind.toUpperCase(), holdingBps: numberOf(holding), controlBasis }
  })
}
