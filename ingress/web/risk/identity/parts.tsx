import type { IdentityState } from '#shared/risk/identity/subject.ts'
import { instantText, words } from '#shared/risk/packs/pdf/figures.ts'
import { Crumb } from '../../shell/basics.tsx'
import type { Console } from '../console.tsx'

export const REQUEST = 'Request from a wallet'

const LISTS = [
  ['', 'Subjects'],
  ['/verifications', 'Verifications'],
  ['/presentations', 'Presentations'],
  ['/passports', 'Passports'],
  ['/consents', 'Consents'],
  ['/issuers', 'Issuers'],
] as const

export function Lists({ console, current }: { console: Console; current: (typeof LISTS)[number][0] }) {
  return (
    <nav class="chips" aria-label="Identity">
      {LISTS.map(([path, label]) => (
        <a key={path} href={`${console.base}/identity${path}`} aria-current={path === current ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}

/** Converts a member name: `legalName` to `legal name`, `gstin` to `GSTIN`. */
export function fieldLabels(name: string): string {
  return name
    .replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, ' ')
    .toLowerCase()
    .replaceAll(/\b(?:gstin|pan|ckyc|cin|lei|llpin|din|id)\b/g, (code) => code.toUpperCase())
}

export function IdentityCrumb({
  console,
  path = '',
  label = 'Identity',
}: {
  console: Console
  path?: string
  label?: string
}) {
  return <Crumb href={`${console.base}/identity${path}`} label={label} />
}

export function dateText(date: Date): string {
  return instantText(date.toISOString())
}

const GOOD = new Set(['verified', 'valid', 'live'])
const BAD = new Set(['refused', 'revoked', 'suspended'])

/** @param text a state in words */
export function StatePill({ text }: { text: string }) {
  return <span class={GOOD.has(text) ? 'pill good' : BAD.has(text) ? 'pill bad' : 'pill'}>{text}</span>
}

const SUBJECT_STATES = new Map<string, string>([
  ['UNVERIFIED', 'not verified'],
  ['PENDING', 'being verified'],
] satisfies [IdentityState, string][])

export function subjectState(state: string): string {
  return SUBJECT_STATES.get(state) ?? words(state)
}
