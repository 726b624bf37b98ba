import type { Console } from '../console.tsx'

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
    .replaceAll(/\b(?:gstin|pan|cin|lei|llpin|din|id)\b/g, (code) => code.toUpperCase())
}
