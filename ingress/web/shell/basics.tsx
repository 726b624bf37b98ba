import type { ComponentChildren } from 'preact'
import { qrMatrix } from '#shared/risk/packs/pdf/draw-qr.ts'
import { type Micros, toIsoSeconds } from '#shared/time.ts'
import { distanceText, relativeTime } from './format.ts'

export function Fact({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd class="breakable">{children}</dd>
    </div>
  )
}

/** Shows an instant relative to now, with the exact time on hover. A script keeps it current. */
export function Ago({ at, now }: { at: Micros; now: Micros }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`} data-ago>
      {relativeTime(at, now)}
    </time>
  )
}

/**
 * Returns attributes by which an element, for example a cell, shows an instant at the end of its text. A `time` in each
 * of hundreds of cells would be heavier.
 */
export function timeOf(kind: 'ago' | 'for', at: Micros) {
  return { [`data-${kind}`]: '', title: `${toIsoSeconds(at).slice(0, 19).replace('T', ' ')} UTC` }
}

/** Shows an instant to the second, in UTC; a script applies the time zone of the page. @param isNamed appends UTC */
export function Exact({ at, isNamed = false }: { at: Micros; isNamed?: boolean }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} data-exact={isNamed ? 'named' : ''}>
      {`${iso.slice(0, 19).replace('T', ' ')}${isNamed ? ' UTC' : ''}`}
    </time>
  )
}

/**
 * Shows the distance from now, past or future: `22 min`. A script keeps it current.
 * @param units units from an hour on: two for `1 h 35 min`
 */
export function Distance({ at, now, units = 1 }: { at: Micros; now: Micros; units?: 1 | 2 }) {
  const iso = toIsoSeconds(at)
  return (
    <time dateTime={iso} title={`${iso.slice(0, 19).replace('T', ' ')} UTC`} data-for={units === 1 ? '' : units}>
      {distanceText(at, now, units)}
    </time>
  )
}

/** Black on white in every colour scheme, because scanners need it. @param side pixels */
export function QrCode({ text, title, side = 148 }: { text: string; title: string; side?: number }) {
  const { size, runs } = qrMatrix(text)
  const edge = size + 4
  const path = runs.map(({ x, y, length }) => `M${x + 2} ${y + 2}h${length}v1h-${length}z`).join('')
  return (
    <svg class="qr-code" viewBox={`0 0 ${edge} ${edge}`} width={side} height={side} role="img" aria-label="QR code">
      <title>{title}</title>
      <rect width={edge} height={edge} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

/** A URL in free text, without the punctuation of the sentence around it. */
const ADDRESS = /(https?:\/\/[^\s<>"'()[\]{}]*[^\s<>"'()[\]{}.,;:!?])/

/** Links send no referrer. */
export function LinkedText({ text }: { text: string }) {
  return (
    <>
      {text.split(ADDRESS).map((part, index) =>
        // Every second part matches the pattern.
        index % 2 === 0 ? (
          part
        ) : (
          <a key={`${index}${part}`} href={part} rel="noopener noreferrer nofollow">
            {part}
          </a>
        ),
      )}
    </>
  )
}

export interface PagePart {
  id: string
  label: string
}

export function PageContents({ parts }: { parts: readonly PagePart[] }) {
  return (
    <nav class="page-contents" aria-labelledby="contents-title">
      <p class="nav-title" id="contents-title">
        On this page
      </p>
      <ul>
        {parts.map(({ id, label }) => (
          <li key={id}>
            <a href={`#${id}`}>{label}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}

interface ShownIntegration {
  disabledAt: Date | null
  lastError: string
  isEmailVerified: boolean
}

/** Returns the reason why an integration may not notify; '' without a known problem. */
export function integrationProblem({ disabledAt, lastError, isEmailVerified }: ShownIntegration): string {
  if (disabledAt !== null) return 'switched off'
  if (!isEmailVerified) return 'not confirmed'
  return lastError === '' ? '' : 'failing'
}

export function IntegrationTrouble({ integration }: { integration: ShownIntegration }) {
  const trouble = integrationProblem(integration)
  return trouble === '' ? null : <span class="pill bad">{trouble}</span>
}

/** The button is shown only when scripts run. */
export function Copyable({ text, label }: { text: string; label: string }) {
  return (
    <span class="copyable">
      <code>{text}</code>
      <button type="button" class="copy" data-copy={text} aria-label={`Copy ${label}`} hidden>
        Copy
      </button>
    </span>
  )
}

export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div class="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex lint/a11y/useSemanticElements: a scrolling region must be reachable by keyboard and have a name */}
      <pre tabIndex={0} role="region" aria-label={label}>
        <code>{text}</code>
      </pre>
      <button type="button" class="copy" data-copy={text} aria-label={`Copy ${label}`} hidden>
        Copy
      </button>
    </div>
  )
}

/** @param what names the secret at the start of a sentence */
export function SecretOnce(props: { what: ComponentChildren; text: string; label: string; more?: string }) {
  const { what, text, label, more = '' } = props
  return (
    <section class="card secret-once" role="status" aria-label={`New ${label}`}>
      <p>
        {what}. It is <b>not shown again</b>
        {more}: copy it now.
      </p>
      <p class="ping-url">
        <Copyable text={text} label={label} />
      </p>
    </section>
  )
}

/** Links to the parent page. */
export function Crumb({ href, label }: { href: string; label: string }) {
  return (
    <p class="crumb">
      <a href={href}>{label}</a>
    </p>
  )
}

export function Card({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="card" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  )
}
