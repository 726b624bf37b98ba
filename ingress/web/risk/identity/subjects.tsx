import { NotFoundError } from '#shared/errors.ts'
import { assuranceOf } from '#shared/risk/identity/assurance.ts'
import { consentView } from '#shared/risk/identity/consent.ts'
import { listConsents } from '#shared/risk/identity/consent-store.ts'
import { findErasure } from '#shared/risk/identity/erasure-store.ts'
import { listPassports } from '#shared/risk/identity/passport-store.ts'
import { listPresentations } from '#shared/risk/identity/presentation-store.ts'
import type { Subject } from '#shared/risk/identity/subject.ts'
import { findSubject, listSubjects, listTransitions } from '#shared/risk/identity/subject-store.ts'
import { factorsOf } from '#shared/risk/identity/verification.ts'
import { listVerifications } from '#shared/risk/identity/verification-store.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { microsOfDate, toMillis } from '#shared/time.ts'
import { isUuid } from '#shared/uuid.ts'
import { Ago, Exact, Fact } from '../../components/basics.tsx'
import type { Context } from '../../shell/context.ts'
import { type Console, loadConsole, mayIn, sendConsole } from '../console.tsx'
import { Said, Table } from '../evidence/parts.tsx'
import { type AnchoredRecord, proveRecord, RecordAnchors } from '../evidence/record-anchor.tsx'
import { ConsentTable } from './consents.tsx'
import { Lists, Pager, pageOf } from './parts.tsx'
import { PassportTable } from './passports.tsx'
import { PresentationTable } from './presentations.tsx'
import { VerificationTable } from './verifications.tsx'

/** Rows of each kind that the page of a subject lists. */
const SHOWN = 20

/** Subjects by their references: what their organisation calls them is not shown here. */
export async function showSubjects(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { db, now } = context.deps
  const { page, nextCursor, isFirst } = await pageOf(context, (before, limit) =>
    listSubjects(db, console, before, limit),
  )
  const base = `${console.base}/identity`
  sendConsole(
    context,
    console,
    { title: 'Identity', area: 'identity' },
    <>
      <div class="page-head">
        <h1>Identity</h1>
        {mayIn(console, 'edit') && (
          <p class="row">
            <a class="button primary" href={`${base}/ask`}>
              Ask a wallet
            </a>
            <a class="button" href={`${base}/subjects/add`}>
              Add a subject
            </a>
          </p>
        )}
      </div>
      <Lists console={console} current="" />
      {page.length === 0 ? (
        <p class="empty">No subject yet.</p>
      ) : (
        <Table label="Subjects" columns={['Reference', 'Kind', 'State', 'Assurance', 'Since']}>
          {page.map(({ id, ref, kind, state, assuranceLevel, createdAt }) => (
            <tr key={id}>
              <td>
                <a class="mono" href={`${base}/subjects/${id}`}>
                  {ref}
                </a>
              </td>
              <td>{words(kind)}</td>
              <td>{words(state)}</td>
              <td>{words(assuranceLevel)}</td>
              <td>
                <Ago at={microsOfDate(createdAt)} now={now()} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      <Pager path={base} isFirst={isFirst} nextCursor={nextCursor} />
    </>,
  )
}

/** A subject as it is anchored: states, factors, passports and consents, no name. */
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
      <Said context={context} />
      <div class="page-head">
        <h1>Subject</h1>
        {mayIn(console, 'edit') && <Actions console={console} subject={subject} />}
      </div>
      <dl class="facts">
        <Fact title="Reference">
          <span class="mono">{subject.ref}</span>
        </Fact>
        <Fact title="Kind">{words(subject.kind)}</Fact>
        <Fact title="State">{words(subject.state)}</Fact>
        <Fact title="Assurance">{words(level)}</Fact>
        {expiresAt && (
          <Fact title="Until">
            <Exact at={microsOfDate(expiresAt)} isNamed />
          </Fact>
        )}
        {erasure !== undefined && <Fact title="Erased">values, reference and reasons are deleted</Fact>}
      </dl>
      {verifications.length > 0 && <VerificationTable console={console} list={verifications.slice(0, SHOWN)} />}
      {presentations.length > 0 && <PresentationTable console={console} list={presentations} nowMs={nowMs} />}
      {passports.length > 0 && <PassportTable console={console} list={passports.slice(0, SHOWN)} nowMs={nowMs} />}
      {consents.length > 0 && <ConsentTable console={console} list={consents.map((one) => consentView(one, nowMs))} />}
      {transitions.length > 0 && <Transitions bodies={transitions.slice(0, SHOWN)} />}
      <RecordAnchors proven={proven} publicUrl={config.publicUrl} env={console.env} />
    </>,
  )
}

function Actions({ console, subject }: { console: Console; subject: Subject }) {
  const base = `${console.base}/identity`
  const open = [
    [`${base}/ask?subjectId=${subject.id}`, 'Ask a wallet'],
    [`${base}/subjects/${subject.id}/verify`, 'Verify'],
    [`${base}/consents/record?subjectId=${subject.id}`, 'Consent'],
    [`${base}/subjects/${subject.id}/move`, 'State'],
    [`${base}/subjects/${subject.id}/passport`, 'Passport'],
  ] as const
  const actions = [
    ...(subject.state === 'REVOKED' ? [] : open),
    [`${base}/subjects/${subject.id}/erase`, 'Erase'] as const,
  ]
  return (
    <p class="row">
      {actions.map(([path, label]) => (
        <a key={path} class="button" href={path}>
          {label}
        </a>
      ))}
    </p>
  )
}

function Transitions({ bodies }: { bodies: readonly string[] }) {
  // Anchored by us.
  const list = bodies.map((body) => JSON.parse(body) as Record<string, string>)
  return (
    <Table label="States" columns={['At', 'From', 'To', 'Reason']}>
      {list.map(({ transitionId, timestamp, from, to, reasonCode }) => (
        <tr key={transitionId}>
          <td>{instantText(timestamp ?? '')}</td>
          <td>{words(from ?? '')}</td>
          <td>{words(to ?? '')}</td>
          <td class="mono breakable">{reasonCode}</td>
        </tr>
      ))}
    </Table>
  )
}
