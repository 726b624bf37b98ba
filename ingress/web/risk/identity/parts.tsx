import { paged, sealCursor, unsealCursor } from '../../../paging.ts'
import type { Context } from '../../shell/context.ts'
import type { Console } from '../console.tsx'

const PAGE_SIZE = 50

/** One page of a list that is ordered by `seq`, and how to go on. */
export async function pageOf<Row extends { seq: number }>(
  context: Context,
  list: (before: number | null, limit: number) => Promise<Row[]>,
) {
  const { secrets } = context.deps
  const before = unsealCursor(context.query.get('cursor') ?? undefined, secrets)
  const rows = await list(before, PAGE_SIZE + 1)
  return { ...paged(rows, PAGE_SIZE, ({ seq }) => sealCursor(seq, secrets)), isFirst: before === null }
}

/** To the newest and to older rows. */
export function Pager(props: { path: string; isFirst: boolean; nextCursor: string | null }) {
  return (
    <nav class="pager" aria-label="Pages">
      {!props.isFirst && <a href={props.path}>Newest</a>}
      {props.nextCursor !== null && (
        <a rel="next" href={`${props.path}?cursor=${props.nextCursor}`}>
          Older
        </a>
      )}
    </nav>
  )
}

const LISTS = [
  ['', 'Subjects'],
  ['/verifications', 'Verifications'],
  ['/presentations', 'Presentations'],
  ['/passports', 'Passports'],
  ['/consents', 'Consents'],
  ['/issuers', 'Issuers'],
] as const

/** The lists of this area. */
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

/** A member of a contract as people read it: `legalName` is `legal name`, `gstin` is `GSTIN`. */
export function fieldLabels(name: string): string {
  return name
    .replaceAll(/(?<=[a-z])(?=[A-Z])|_/g, ' ')
    .toLowerCase()
    .replaceAll(/\b(?:gstin|pan|cin|lei|llpin|din|id)\b/g, (code) => code.toUpperCase())
}
