import type { Card } from '#shared/risk/packs/pdf/card.ts'
import { type PackDocument, packDocument } from '#shared/risk/packs/pdf/document.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, loadConsole, sendConsole } from './console.tsx'
import { requirePack } from './pack-page.tsx'
import { PackValue } from './pack-value.tsx'
import { Tier } from './tiers.tsx'

/** Differences are marked in words, not only by colour. */
export function comparePages(pages: Pages): void {
  pages.get(`${CONSOLE}/compare`, compare)
}

async function compare(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const [a = '', b = ''] = context.query.getAll('pack')
  const page = { title: 'Comparison', area: 'packs' } as const
  if (a === '' || b === '') {
    return sendConsole(
      context,
      console,
      page,
      <>
        <h1>Comparison</h1>
        <p class="empty">
          Tick two packs in <a href={`${console.base}/packs`}>the list</a> to see them side by side.
        </p>
      </>,
    )
  }
  const [left, right] = await Promise.all([a, b].map((id) => readPack(context, console, id)))
  if (!left || !right) return
  const isWhole = context.query.get('values') === 'all'
  const addressOf = (every: boolean) =>
    `${console.base}/compare?${new URLSearchParams([['pack', a], ['pack', b], ...(every ? [['values', 'all']] : [])])}`
  sendConsole(
    context,
    console,
    page,
    <>
      <div class="page-head">
        <h1>Comparison</h1>
        <nav class="chips small" aria-label="Which values">
          {[false, true].map((every) => (
            <a key={String(every)} href={addressOf(every)} aria-current={every === isWhole ? 'true' : undefined}>
              {every ? 'Every value' : 'What differs'}
            </a>
          ))}
        </nav>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="card table-card scroll" tabIndex={0} aria-label="Two packs">
        <table class="plain-table wide-table">
          <thead>
            <tr>
              <th scope="col">Value</th>
              {[left, right].map(({ packId }, index) => (
                <th scope="col" key={`${index}-${packId}`}>
                  <a class="mono" href={`${console.base}/packs/${packId}`}>
                    {packId.slice(0, 8)}
                  </a>
                </th>
              ))}
              <th scope="col">Same?</th>
            </tr>
          </thead>
          <tbody>
            <Row label="Composed" values={[instantText(left.generatedAt), instantText(right.generatedAt)]} />
            <Row label="Signal level" values={[left.level.code, right.level.code]} />
            {left.cards.map((card) => (
              <CardRows
                key={card.key}
                left={card}
                right={right.cards.find(({ key }) => key === card.key)}
                isWhole={isWhole}
              />
            ))}
          </tbody>
        </table>
      </section>
    </>,
  )
}

async function readPack(
  context: Context,
  console: Awaited<ReturnType<typeof loadConsole>>,
  id: string,
): Promise<PackDocument | null> {
  const { body, evidence } = await requirePack(context, console, id)
  return body === null ? null : packDocument({ body, evidence, env: console.env })
}

/** Shows only different values, unless all are requested. */
function CardRows({ left, right, isWhole }: { left: Card; right: Card | undefined; isWhole: boolean }) {
  const all = [...new Set([...left.values, ...(right?.values ?? [])].map(({ label }) => label))]
  const labels = isWhole ? all : all.filter((label) => textOf(left, label) !== textOf(right, label))
  const isSameTier = left.tier === right?.tier
  if (!isWhole && labels.length === 0 && isSameTier) return null
  return (
    <>
      <tr class="comparison-head">
        <th scope="row">{left.title}</th>
        <td>
          <Tier tier={left.tier} />
        </td>
        <td>{right ? <Tier tier={right.tier} /> : '—'}</td>
        <td>{isSameTier ? '' : <span class="pill">differs</span>}</td>
      </tr>
      {labels.map((label) => (
        <Row key={label} label={label} values={[textOf(left, label), textOf(right, label)]} />
      ))}
    </>
  )
}

function textOf(card: Card | undefined, label: string): string {
  return card?.values.find((value) => value.label === label)?.value ?? '—'
}

function Row({ label, values: [a, b] }: { label: string; values: [string, string] }) {
  return (
    <tr>
      <th scope="row">{label}</th>
      <td class="figure">
        <PackValue value={a} />
      </td>
      <td class="figure">
        <PackValue value={b} />
      </td>
      <td>{a === b ? '' : <span class="pill">differs</span>}</td>
    </tr>
  )
}
