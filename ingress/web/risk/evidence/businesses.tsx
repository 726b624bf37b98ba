import type { Knex } from 'knex'
import { readOutcome } from '#shared/jobs/operations/jobs.ts'
import { z } from 'zod'
import { findByIdentifierValue, findEntity, listEntities } from '#shared/risk/businesses/store.ts'
import { normaliseUpper } from '#shared/risk/identifiers/identifier.ts'
import { veiError } from '#shared/risk/identifiers/vei.ts'
import { BUSINESS_VERIFICATIONS } from '#shared/risk/operations/business-requests.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import { readOutcome } from '../../../api-risk/evidence-job.ts'
import { VERIFICATIONS } from '../../../api-risk/kyb/verifications.ts'
import { decodeCursor, encodeCursor, paged } from '../../../paging.ts'
import { Ago, Fact } from '../../components/basics.tsx'
import { Problem } from '../../components/notice.tsx'
import { MonoLink } from '../../lists/list.tsx'
import { readByTime } from '../../lists/paging.ts'
import { type Context, type Pages, redirect } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, sendConsole, sendList } from '../console.tsx'
import { businessForms } from './business-forms.ts'
import { showEntity } from './entity-page.tsx'
import { Checks, Pending, type Verification } from './parts.tsx'
import { proveRecord, RecordAnchor } from './record-anchor.tsx'

/** Businesses: what is held of them, and what their checks found. */
export function businessPages(pages: Pages): void {
  pages.get(`${CONSOLE}/businesses`, showList)
  // Before the page whose parameter would take `verify` for an identifier.
  businessForms(pages)
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

/** The entity that a written identifier names, its own or a registry's. */
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
  if (answer.status === 202) {
    return sendConsole(context, console, { ...page, pollSeconds: 2 }, <Pending title="Verification" />)
  }
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
