import { NotFoundError } from '#shared/errors.ts'
import { assuranceOf } from '#shared/risk/identity/assurance.ts'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { findErasure } from '#shared/risk/identity/erasure-store.ts'
import { listPassports } from '#shared/risk/identity/passport-store.ts'
import { listPresentations } from '#shared/risk/identity/presentation-store.ts'
import type { Subject } from '#shared/risk/identity/subject.ts'
import { findSubject, listTransitions } from '#shared/risk/identity/subject-store.ts'
import { factorsOf } from '#shared/risk/identity/verification.ts'
import { listVerifications } from '#shared/risk/identity/verification-store.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { type Column, Table } from '../../lists/list.tsx'
import { Fact } from '../../shell/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Action, NextAction } from '../actions.tsx'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { codeName } from '../evidence/names.ts'
import { type AnchoredRecord, proveRecord, RecordAnchors } from '../evidence/record-anchor.tsx'
import { consentColumns } from './consents.tsx'
import { dateText, IdentityCrumb, REQUEST, StatePill, subjectState } from './parts.tsx'
import { passportColumns } from './passports.tsx'
import { presentationColumns } from './presentations.tsx'
import { verificationColumns } from './verifications.tsx'

/** Maximum rows of each kind. */
const SHOWN = 20

/** Shows anchored data of a subject: states, factors, passports and consents, no name. */
export async function showSubject(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, config, now } = context.deps
  const id = context.params.subject ?? ''
  const subject = isUuid(id) ? await findSubject(db, console, id) : undefined
  if (!subject) throw new NotFoundError('There is no such subject.')
  const nowMs = toMillis(now())
  const own = { subjectId: id, before: null, limit: SHOWN }
  const [verifications, passports, consents, presentations, transitions, erasure] = await Promise.all([
    listVerifications(db, id),
    listPassports(db, id),
    listConsents(db, console, own),
    listPresentations(db, console, own),
    listTransitions(db, id),
    findErasure(db, id),
  ])
  const { level, expiresAt } = assuranceOf(factorsOf(verifications), nowMs)
  const [passport] = passports
  const [consent] = consents
  const newest = [
    transitions[0],
    passport?.revocation ?? passport?.body,
    consent?.withdrawal ?? consent?.record,
    erasure,
  ]
  const proven = await Promise.all(
    // Anchored by us.
    newest.flatMap((body) => (body === undefined ? [] : [proveRecord(db, JSON.parse(body) as AnchoredRecord)])),
  )
  sendConsole(
    context,
    console,
    { title: 'Subject', area: 'identity' },
    <>
      <IdentityCrumb console={console} />
      <h1>
        Subject <span class="mono">{subject.ref}</span> <StatePill text={subjectState(subject.state)} />
      </h1>
      {mayIn(console, 'edit') && (
        <Next context={context} console={console} subject={subject} hasPassport={passports.length > 0} />
      )}
      <dl class="facts">
        <Fact title="Type">{words(subject.kind)}</Fact>
        <Fact title="Assurance">{words(level)}</Fact>
        {expiresAt && <Fact title="Verified until">{dateText(expiresAt)}</Fact>}
        {erasure !== undefined && <Fact title="Erased">values, reference and reasons are deleted</Fact>}
      </dl>
      <Part
        title="Verifications"
        columns={verificationColumns(console, { isOfMany: false })}
        rows={verifications.slice(0, SHOWN)}
      />
      <Part title="Presentations" columns={presentationColumns(console, nowMs)} rows={presentations} />
      <Part title="Passports" columns={passportColumns(console, nowMs)} rows={passports.slice(0, SHOWN)} />
      <Part title="Consents" columns={consentColumns(console)} rows={consents.map((one) => consentView(one, nowMs))} />
      <Part title="History" columns={TRANSITION_COLUMNS} rows={transitions.slice(0, SHOWN).map(transitionOf)} />
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

function Part<Row>({ title, columns, rows }: { title: string; columns: readonly Column<Row>[]; rows: readonly Row[] }) {
  if (rows.length === 0) return null
  return (
    <>
      <h2>{title}</h2>
      <Table label={title} variant="wide-table stacked" columns={columns} rows={rows} />
    </>
  )
}

function Next(props: { context: Context; console: Console; subject: Subject; hasPassport: boolean }) {
  const { context, console, subject, hasPassport } = props
  const base = `${console.base}/identity`
  const page = `${base}/subjects/${subject.id}`
  const all = {
    request: { label: REQUEST, href: `${base}/ask?subjectId=${subject.id}` },
    verify: { label: 'Verify', href: `${page}/verify` },
    passport: { label: 'Issue a passport', href: `${page}/passport` },
    consent: { label: 'Record a consent', href: `${base}/consents/record?subjectId=${subject.id}` },
    move: { label: 'Change the state', href: `${page}/move` },
    erase: { label: 'Erase…', href: `${page}/erase`, isDestructive: true },
  } satisfies Record<string, Action>
  const { text, first } = nextOf(subject, hasPassport)
  const main = first.map((name) => all[name])
  const offered = subject.state === 'REVOKED' ? [all.erase] : Object.values(all)
  const more = offered.filter((action) => !main.some(({ href }) => href === action.href))
  return <NextAction context={context} text={text} actions={main} more={more} />
}

type Step = 'request' | 'verify' | 'passport' | 'move'

function nextOf({ state }: Subject, hasPassport: boolean): { text: string; first: readonly Step[] } {
  switch (state) {
    case 'UNVERIFIED':
    case 'PENDING':
      return {
        text: 'Request a credential from its wallet, or verify it in another way.',
        first: ['request', 'verify'],
      }
    case 'EXPIRED':
      return { text: 'The verifications have expired. Verify the subject again.', first: ['request', 'verify'] }
    case 'VERIFIED':
      return hasPassport
        ? { text: 'Nothing is due: the subject is verified and has a passport.', first: [] }
        : { text: 'The subject is verified. Issue a passport that others can check.', first: ['passport'] }
    case 'SUSPENDED':
      return {
        text: 'The subject does not count as verified. End the suspension when its reason is resolved.',
        first: ['move'],
      }
    default:
      return { text: 'Nothing is due: the subject is revoked for good.', first: [] }
  }
}

// Anchored by us.
const transitionOf = (body: string) => JSON.parse(body) as Record<string, string>

const TRANSITION_COLUMNS: Column<Record<string, string>>[] = [
  { title: 'Changed', cell: ({ timestamp = '' }) => instantText(timestamp) },
  { title: 'From', isLabelled: true, cell: ({ from = '' }) => subjectState(from) },
  { title: 'To', isLabelled: true, cell: ({ to = '' }) => subjectState(to) },
  {
    title: 'Reason',
    isLabelled: true,
    hint: ({ reasonCode = '' }) => reasonCode,
    cell: ({ reasonCode = '' }) => codeName(reasonCode),
  },
]
