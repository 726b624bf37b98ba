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

/** One element, because a page has up to a hundred. A ring marks an open run. */
export function StatusGlyph({ status, isRunning = false }: { status: ShownStatus; isRunning?: boolean }) {
  const label = isRunning ? `${statusNames[status]}, running` : statusNames[status]
  const look = `glyph ${status}${isRunning ? ' running' : ''}`
  return <span class={look} role="img" aria-label={label} />
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
