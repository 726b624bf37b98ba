import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { CheckBox, SegmentField, SelectField, TextArea, TextField } from '../forms/inputs.tsx'
import { DayBar } from '../monitoring/day-bar.tsx'
import { Ago, Card, CodeBlock, Copyable, Distance } from '../shell/basics.tsx'
import type { Pages } from '../shell/context.ts'
import { iconNames } from '../shell/icon-rules.ts'
import { Icon, KindIcon, StatusGlyph, statusNames } from '../shell/icons.tsx'
import { sendPage } from '../shell/layout.tsx'
import { Problem } from '../shell/notice.tsx'

const statuses: readonly ShownStatus[] = ['up', 'grace', 'down', 'paused', 'new']
const colours = ['ground', 'card', 'side', 'line', 'text', 'soft', 'accent', 'up', 'grace', 'down', 'paused', 'new']
const HOUR = 3_600_000_000

/** Shows every component in both themes, for developers; absent in production. */
export function designPages(pages: Pages): void {
  pages.get('/design', (context) => {
    const now = context.deps.now()
    sendPage(
      context,
      { title: 'Design' },
      <>
        <h1>Design</h1>
        <p class="muted">Every component, in both themes. Tokens stand in tokens.css.</p>
        <div class="design">
          {(['light', 'dark'] as const).map((theme) => (
            <div key={theme} data-theme={theme} class="design-theme">
              <h2>{theme === 'light' ? 'Light' : 'Dark'}</h2>
              <Components theme={theme} now={now} />
            </div>
          ))}
        </div>
      </>,
    )
  })
}

function Components({ theme, now }: { theme: string; now: number }) {
  const id = (name: string) => `${name}-${theme}`
  const days = Array.from({ length: 30 }, (_, index) => ({
    date: `day ${index + 1}`,
    seconds: index < 4 ? null : index % 11 === 0 ? 640 : 0,
  }))
  return (
    <>
      <Card title="Colours">
        <ul class="swatches">
          {colours.map((name) => (
            <li key={name}>
              <span class={`swatch swatch-${name}`} /> <code>{name}</code>
            </li>
          ))}
        </ul>
      </Card>
      <Card title="Text">
        <p>
          Base text with a <a href="/design">link to this page</a>, <code>code</code> and <b>12,345</b>.{' '}
          <span class="muted">Soft text.</span>
        </p>
        <p>
          <Ago at={now - HOUR} now={now} /> · <Distance at={now - 3 * HOUR} now={now} />
        </p>
        <small>Small text for what is beside the point.</small>
      </Card>
      <Card title="States">
        <p class="row">
          {statuses.map((status) => (
            <span key={status} class="row">
              <StatusGlyph status={status} isRunning={status === 'up'} /> {statusNames[status]}
            </span>
          ))}
        </p>
        <p class="row">
          <span class="pill">quiet</span> <span class="pill good">good</span> <span class="pill bad">bad</span>
          <span class="tag">tag</span> <span class="count">6</span>
        </p>
        <DayBar days={days} isSlim />
      </Card>
      <Card title="Buttons">
        <p class="row">
          <button type="button" class="primary">
            Primary
          </button>
          <button type="button">Plain</button>
          <button type="button" class="danger">
            Danger
          </button>
          <button type="button" class="danger solid">
            Delete
          </button>
          <button type="button" class="quiet">
            Quiet
          </button>
        </p>
      </Card>
      <Fields id={id} />
      <Card title="Copy">
        <p class="ping-url">
          <Copyable text="https://signalbox.example/ping/…" label={`address, ${theme}`} />
        </p>
        <CodeBlock
          text={'curl -fsS -m 10 --retry 5 --retry-connrefused \\\n  https://signalbox.example/ping/…'}
          label={`lines, ${theme}`}
        />
      </Card>
      <Card title="Notices">
        <p class="notice">The check is saved.</p>
        <Problem text="Please fix the highlighted fields." />
        <p class="connection still">Not connected since 19:41:02. What you see is from 19:40:58.</p>
        <p class="toast">Copied</p>
      </Card>
      <Card title="Icons">
        <ul class="swatches">
          {iconNames.map((name) => (
            <li key={name}>
              <Icon name={name} /> <small>{name}</small>
            </li>
          ))}
        </ul>
        <p class="row">
          {['email', 'slack', 'webhook', 'pd', 'telegram'].map((kind) => (
            <KindIcon key={kind} kind={kind} />
          ))}
        </p>
      </Card>
    </>
  )
}

function Fields({ id }: { id: (name: string) => string }) {
  return (
    <Card title="Fields">
      <div class="stack">
        <TextField label="Text" name={id('text')} value="Nightly backup" hint="What helps to fill it in." />
        <TextField label="Wrong" name={id('wrong')} value="every day" error="Period is not a number." />
        <SelectField label="Choice" name={id('choice')} value="a" options={[{ value: 'a', label: 'The first' }]} />
        <TextArea label="Lines" name={id('lines')} value="One" rows={2} />
        <SegmentField
          label="One of a few"
          name={id('way')}
          value="once"
          options={[
            { value: 'once', label: 'Once' },
            { value: 'again', label: 'Recurring' },
          ]}
        />
        <CheckBox name={id('box')} label="A box to tick" isChecked hint="What it does." />
      </div>
    </Card>
  )
}
