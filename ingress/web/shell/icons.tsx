import type { ShownStatus } from '#shared/monitoring/checks/check.ts'
import { iconOfKind } from './icon-rules.ts'

/** A signal arm; the product's name is always beside it. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <rect class="logo-box" x="1" y="1" width="22" height="22" rx="6" />
      <path class="logo-arm" d="M5 13h3.2l2.3-6 3.4 10 2.2-4H19" />
    </svg>
  )
}

export const statusNames: Readonly<Record<ShownStatus, string>> = {
  up: 'Up',
  grace: 'Late',
  down: 'Down',
  paused: 'Paused',
  new: 'New',
}

/** Distinguishable by shape alone, for colour-blind users. */
const shapes: Readonly<Record<ShownStatus, preact.JSX.Element>> = {
  up: (
    <>
      <circle class="fill" cx="12" cy="12" r="8" />
      <path class="ink" d="M8.5 12.2l2.4 2.4 4.6-5" />
    </>
  ),
  grace: (
    <>
      <path class="fill" d="M12 3.6l9 16H3z" />
      <path class="ink" d="M12 9.5v4.4M12 16.6v.3" />
    </>
  ),
  down: (
    <>
      <path class="fill" d="M8.7 4h6.6L20 8.7v6.6L15.3 20H8.7L4 15.3V8.7z" />
      <path class="ink" d="M9.2 9.2l5.6 5.6M14.8 9.2l-5.6 5.6" />
    </>
  ),
  paused: (
    <>
      <rect class="fill" x="6" y="5" width="4.4" height="14" rx="1.2" />
      <rect class="fill" x="13.6" y="5" width="4.4" height="14" rx="1.2" />
    </>
  ),
  new: <circle class="line" cx="12" cy="12" r="7" stroke-dasharray="3.4 3" />,
}

/** A ring marks an open run. */
export function StatusGlyph({ status, isRunning = false }: { status: ShownStatus; isRunning?: boolean }) {
  const label = isRunning ? `${statusNames[status]}, running` : statusNames[status]
  return (
    <svg class={`glyph ${status}`} viewBox="0 0 24 24" width="24" height="24" role="img" aria-label={label}>
      <title>{label}</title>
      {shapes[status]}
      {isRunning && <circle class="ring" cx="12" cy="12" r="11" />}
    </svg>
  )
}

export function Icon({ name }: { name: string }) {
  return <span class={`icon i-${name}`} aria-hidden="true" />
}

/** Decorative: the name is always beside it or in its title. */
export function KindIcon({ kind }: { kind: string }) {
  return (
    <span class="tile" aria-hidden="true">
      <Icon name={iconOfKind(kind)} />
    </span>
  )
}
