import { ForbiddenError, NotFoundError } from '#shared/errors.ts'
import { type CalendarFeed, findFeed } from '#shared/monitoring/on-call/feed-store.ts'
import {
  createPersonalFeed,
  createScheduleFeed,
  MAX_FEEDS,
  revokeFeed,
  revokePersonalFeed,
} from '#shared/monitoring/operations/calendar-feeds.ts'
import { isUuid } from '#shared/uuid.ts'
import { ButtonForm, FieldForm } from '../../forms/form.tsx'
import { personOf } from '../../shell/audit.ts'
import { SecretOnce } from '../../shell/basics.tsx'
import { type Context, type FormContext, field, type Pages, redirect } from '../../shell/context.ts'
import { setFlash } from '../../shell/flash.ts'
import type { Workspace } from '../../shell/workspace.ts'
import { requireSchedulePage } from './load.ts'

export function feedPages(pages: Pages, base: string): void {
  pages.post(`${base}/:schedule/feeds`, createFeed)
  pages.post(`${base}/:schedule/feeds/:feed/revoke`, endFeed)
}

/** Shows the address of a new feed once. */
export function FeedAddress({ context }: { context: Context }) {
  const { secret } = context.flash
  return secret ? <SecretOnce what="The calendar address" text={secret} label="calendar address" /> : null
}

/** Buttons for the calendar with a person's own shifts in all organisations. */
export function PersonalFeed({ context, base, hasFeed }: { context: Context; base: string; hasFeed: boolean }) {
  return (
    <div class="row">
      <ButtonForm
        context={context}
        action={`${base}/feed`}
        label={hasFeed ? 'New calendar address' : 'Calendar address'}
        {...(hasFeed && { confirm: 'Create a new calendar address? The present one ends.', yes: 'Create it' })}
      />
      {hasFeed && <ButtonForm context={context} action={`${base}/feed/revoke`} label="Revoke it" variant="quiet" />}
    </div>
  )
}

type Session = Workspace['session']

/** Returns to `path`, which shows the address. */
export async function createOwnFeed(context: FormContext, session: Session, path: string): Promise<void> {
  const { db, secrets } = context.deps
  const { token } = await createPersonalFeed(db, personOf(context, session), { userId: session.userId, secrets })
  showAddress(context, path, token)
}

export async function endOwnFeed(context: FormContext, session: Session, path: string): Promise<void> {
  await revokePersonalFeed(context.deps.db, personOf(context, session), session.userId)
  redirect(context, `${path}?done=feed-revoked`)
}

function showAddress(context: Context, path: string, token: string): void {
  setFlash(context, path, { secret: `${context.deps.config.publicUrl}/cal/${token}.ics` })
  redirect(context, path)
}

/** Feeds of a schedule, for members who may edit it. */
export function ScheduleFeeds({
  context,
  path,
  feeds,
}: {
  context: Context
  path: string
  feeds: readonly CalendarFeed[]
}) {
  return (
    <section class="card" aria-labelledby="feeds">
      <h2 id="feeds">Calendars</h2>
      <p class="hint">
        An address for calendar programs with the shifts of all persons. Anyone who knows it can read them.
      </p>
      {feeds.length > 0 && (
        <ul>
          {feeds.map(({ uuid, name, createdBy }) => (
            <li key={uuid} class="row">
              <span class="breakable">
                {name || 'Without a name'}
                {createdBy !== '' && `, by ${createdBy}`}
              </span>
              <ButtonForm
                context={context}
                action={`${path}/feeds/${uuid}/revoke`}
                confirm="Revoke this calendar address? Calendars that use it get no more shifts."
                yes="Revoke address"
                label="Revoke"
                variant="quiet"
                name={`Revoke the calendar address ${name}`}
              />
            </li>
          ))}
        </ul>
      )}
      {feeds.length < MAX_FEEDS && (
        <FieldForm
          context={context}
          action={`${path}/feeds`}
          submit="Create calendar address"
          items={[{ name: 'name', label: 'Name of the calendar', maxLength: 100 }]}
        />
      )}
    </section>
  )
}

async function createFeed(context: FormContext): Promise<void> {
  const { project, schedule, session, base } = await requireSchedulePage(context, 'edit')
  const { db, secrets } = context.deps
  const path = `${base}/${schedule.uuid}`
  const name = field(context.form, 'name').trim().slice(0, 100)
  try {
    const input = { project, uuid: schedule.uuid, name, by: session.email, secrets }
    const { token } = await createScheduleFeed(db, personOf(context, session), input)
    showAddress(context, path, token)
  } catch (error) {
    if (!(error instanceof ForbiddenError)) throw error
    setFlash(context, path, { problem: error.message })
    redirect(context, path)
  }
}

async function endFeed(context: FormContext): Promise<void> {
  const { project, schedule, session, base } = await requireSchedulePage(context, 'edit')
  const { db } = context.deps
  const uuid = context.params.feed ?? ''
  const feed = isUuid(uuid) ? await findFeed(db, project.id, uuid) : null
  if (feed?.scheduleId !== schedule.id) throw new NotFoundError('There is no such calendar address.')
  await revokeFeed(db, personOf(context, session), { project, uuid })
  redirect(context, `${base}/${schedule.uuid}?done=feed-revoked`)
}
