import { type Micros, toSeconds } from '#shared/time.ts'
import { Exact } from '../../shell/basics.tsx'
import type { Pages } from '../../shell/context.ts'
import { humanDuration, isDurationUnit, UNIT_SECONDS } from '../../shell/format.ts'
import { sendPage } from '../../shell/layout.tsx'
import { signedIn } from '../../shell/workspace.ts'
import { NextTimes } from './facts.tsx'
import { previewSchedule, type ScheduleInput } from './schedule-text.ts'

/** Explains a schedule while the user types. It stores nothing and reads no project data. */
export function previewPages(pages: Pages): void {
  pages.get('/schedule-preview', async (context) => {
    await signedIn(context)
    const values = Object.fromEntries([...context.query].map(([name, value]) => [name, value.slice(0, 1000)]))
    sendPage(context, { title: 'Schedule' }, <SchedulePreview values={values} now={context.deps.now()} />)
  })
}

export function SchedulePreview({ values, now }: { values: Readonly<Record<string, string>>; now: Micros }) {
  const preview = previewSchedule(inputOf(values), now)
  return (
    <section
      class="card preview"
      data-region="preview"
      data-preview="/schedule-preview"
      aria-label="What this means"
      aria-live="polite"
    >
      <h2>What this means</h2>
      {preview.problem !== null ? (
        <p class="field-error">{preview.problem}</p>
      ) : (
        <>
          <p>
            <b>{preview.words}</b>
          </p>
          {preview.lateAt !== null && preview.downAt !== null && (
            <p>
              If the last ping came now, it would be late in {humanDuration(toSeconds(preview.lateAt - now))} (
              <Exact at={preview.lateAt} isNamed />) and down in {humanDuration(toSeconds(preview.downAt - now))} (
              <Exact at={preview.downAt} isNamed />
              ).
            </p>
          )}
          {preview.earlyLimit !== null && (
            <p class="hint">
              A ping more than {humanDuration(toSeconds(preview.earlyLimit))} early (half of the shortest interval) may
              count for the previous time.
            </p>
          )}
          <NextTimes times={preview.next} tz={preview.tz} />
        </>
      )}
    </section>
  )
}

function inputOf(values: Readonly<Record<string, string>>): ScheduleInput {
  const seconds = (name: string) => {
    const unit = values[`${name}_unit`] ?? ''
    const text = (values[name] ?? '').trim()
    return text === '' ? Number.NaN : Number(text) * (isDurationUnit(unit) ? UNIT_SECONDS[unit] : 1)
  }
  return {
    kind: values.kind === 'schedule' ? 'schedule' : 'simple',
    timeoutSeconds: seconds('timeout'),
    graceSeconds: seconds('grace'),
    schedule: values.schedule ?? '',
    tz: values.tz || 'UTC',
    earlySeconds: (values.early ?? '').trim() === '' ? 0 : seconds('early'),
  }
}
