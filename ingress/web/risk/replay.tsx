import { toDate } from '#shared/time.ts'
import { countReplayable, REPLAYABLE } from '#shared/webhooks/delivery-store.ts'
import { REPLAY_LIMIT, replayEndpoint } from '#shared/webhooks/operations/deliveries.ts'
import { Form } from '../forms/form.tsx'
import { CheckBox } from '../forms/inputs.tsx'
import { personOf } from '../shell/audit.ts'
import { type Context, type FormContext, field, type Pages, redirect } from '../shell/context.ts'
import { setFlash } from '../shell/flash.ts'
import { CONSOLE, loadConsole } from './console.tsx'
import { requireEndpoint } from './webhook-actions.tsx'

/** Handles the replay form: counts or replays the deliveries in the selected states and period of their events. */
export function replayPages(pages: Pages): void {
  pages.post(`${CONSOLE}/webhooks/:endpoint/replay`, replay)
}

export function Replay({ context, path }: { context: Context; path: string }) {
  const { query } = context
  const chosen = query.getAll('replay')
  return (
    <section class="card form-wide" id="replay" aria-labelledby="replay-title">
      <h2 id="replay-title">Replay</h2>
      <p class="muted">
        Sends the same events again with the same bodies, in order, at most 50 per second. Pending deliveries are not
        included: they are sent without a replay.
      </p>
      <ul class="chips small" aria-label="Usual times of the events">
        {presetsOf(toDate(context.deps.now())).map(({ label, from, to }) => (
          <li key={label}>
            <a href={presetUrl(path, query, { from, to })}>{label}</a>
          </li>
        ))}
      </ul>
      <Form context={context} action={`${path}/replay`} class="stack">
        <fieldset class="plain-choices">
          <legend>States of the deliveries</legend>
          {REPLAYABLE.map((state) => (
            <CheckBox
              key={state}
              name="state"
              value={state}
              label={state.charAt(0) + state.slice(1).toLowerCase()}
              hint={MEANINGS[state]}
              isChecked={chosen.length === 0 ? state !== 'DELIVERED' : chosen.includes(state)}
            />
          ))}
        </fieldset>
        <div class="columns">
          {(['from', 'to'] as const).map((name) => (
            <div class="field" key={name}>
              <label for={`replay-${name}`}>{name === 'from' ? 'Events from (UTC)' : 'Events until (UTC)'}</label>
              <input
                id={`replay-${name}`}
                name={name}
                type="datetime-local"
                step="1"
                value={query.get(`replay-${name}`) ?? ''}
              />
            </div>
          ))}
        </div>
        <p class="row">
          <button type="submit" name="do" value="preview">
            Count
          </button>
          <button type="submit" name="do" value="replay">
            Replay
          </button>
        </p>
      </Form>
    </section>
  )
}

const MEANINGS: Readonly<Record<(typeof REPLAYABLE)[number], string>> = {
  FAILED: 'No retry could succeed: the endpoint answered 410, or its URL is not allowed.',
  EXHAUSTED: 'All ten attempts failed.',
  SUPPRESSED: 'Not sent, because the endpoint was not active.',
  DELIVERED: 'The endpoint accepted these already and receives them again.',
}

/** Texts for the inputs, in UTC; '' is no bound. */
interface Preset {
  label: string
  from: string
  to: string
}

function presetsOf(now: Date): Preset[] {
  const minute = (daysAgo: number, time: string) =>
    `${new Date(now.getTime() - daysAgo * 86_400_000).toISOString().slice(0, 10)}T${time}`
  return [
    { label: 'Last hour', from: new Date(now.getTime() - 3_600_000).toISOString().slice(0, 16), to: '' },
    { label: 'Today', from: minute(0, '00:00'), to: '' },
    { label: 'Yesterday', from: minute(1, '00:00'), to: minute(1, '23:59:59') },
    { label: 'Last 7 days', from: minute(7, '00:00'), to: '' },
    { label: 'All', from: '', to: '' },
  ]
}

/** Keeps the chosen states. */
function presetUrl(path: string, query: URLSearchParams, { from, to }: Pick<Preset, 'from' | 'to'>): string {
  const kept = new URLSearchParams(query.getAll('replay').map((state) => ['replay', state]))
  if (from !== '') kept.set('replay-from', from)
  if (to !== '') kept.set('replay-to', to)
  return `${path}?${kept}#replay`
}

async function replay(context: FormContext): Promise<void> {
  const console = await loadConsole(context, 'manage')
  const { id } = await requireEndpoint(context, console)
  const { form, deps } = context
  const checked = new Set(form.getAll('state'))
  const states = REPLAYABLE.filter((state) => checked.has(state))
  const [from, to] = [instantOf(form, 'from'), instantOf(form, 'to')]
  const path = `${console.base}/webhooks/${id}`
  const formQuery = new URLSearchParams(states.map((state) => ['replay', state]))
  for (const name of ['from', 'to']) if (field(form, name) !== '') formQuery.append(`replay-${name}`, field(form, name))
  if (from === undefined || to === undefined) {
    setFlash(context, path, { notice: 'Nothing was sent: enter times as 2026-01-31T10:00.' })
    return redirect(context, `${path}?${formQuery}#replay`)
  }
  const selection = { endpointId: id, from, to, states, limit: REPLAY_LIMIT }
  if (field(form, 'do') === 'preview') {
    const count = await countReplayable(deps.db, selection)
    const limit = count === REPLAY_LIMIT ? ', the limit of one replay,' : ''
    setFlash(context, path, { notice: `${deliveries(count)}${limit} would be sent again.` })
    return redirect(context, `${path}?${formQuery}#replay`)
  }
  const count = await deps.outbox.run((tx, enqueue) =>
    replayEndpoint(tx, personOf(context, console.session), { ...selection, scope: console }, { enqueue }),
  )
  const more = count === REPLAY_LIMIT ? ' This is the limit of one replay: count again to see what remains.' : ''
  const notice =
    count === 0
      ? 'No delivery matches the selected states and times. Nothing was sent.'
      : `${deliveries(count)} ${count === 1 ? 'is' : 'are'} sent again.${more}`
  setFlash(context, path, { notice })
  redirect(context, path)
}

function deliveries(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'delivery' : 'deliveries'}`
}

/** @returns null for an empty field, undefined for an invalid instant */
function instantOf(form: URLSearchParams, name: string): Date | null | undefined {
  const text = field(form, name)
  if (text === '') return null
  const date = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? new Date(`${text}Z`) : null
  return date && !Number.isNaN(date.getTime()) ? date : undefined
}
