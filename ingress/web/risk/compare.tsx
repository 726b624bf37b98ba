import type { ComponentChildren } from 'preact'
import { NotFoundError } from '#shared/errors.ts'
import type { Card } from '#shared/risk/packs/pdf/card.ts'
import { type PackDocument, packDocument } from '#shared/risk/packs/pdf/document.ts'
import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import { EmptyCard } from '../lists/empty-card.tsx'
import { MonoLink } from '../lists/list.tsx'
import { Crumb } from '../shell/basics.tsx'
import type { Context, Pages } from '../shell/context.ts'
import { CONSOLE, type Console, loadConsole, sendConsole } from './console.tsx'
import { LevelPill } from './pack-list.tsx'
import { requirePack } from './pack-page.tsx'
import { PackValue } from './pack-value.tsx'
import { Tier } from './tiers.tsx'

/** Differences are marked in words, not only by colour. */
export function comparePages(pages: Pages): void {
  pages.get(`${CONSOLE}/compare`, compare)
}

const PAGE = { title: 'Compare packs', area: 'packs' } as const

async function compare(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const chosen = context.query.getAll('pack')
  const [a = '', b = ''] = chosen
  if (a === '' || b === '') return sendChoice(context, console)
  const [left, right] = await Promise.all([readPack(context, console, a), readPack(context, console, b)])
  const isWhole = context.query.get('values') === 'all'
  const addressOf = (every: boolean) =>
    `${console.base}/compare?${new URLSearchParams([['pack', a], ['pack', b], ...(every ? [['values', 'all']] : [])])}`
  const sections = sectionsOf(left, right)
  sendConsole(
    context,
    console,
    PAGE,
    <>
      <Crumb href={`${console.base}/packs`} label="Packs" />
      <div class="page-head">
        <h1>Compare two packs</h1>
        <nav class="chips small" aria-label="Which values">
          {[false, true].map((every) => (
            <a key={String(every)} href={addressOf(every)} aria-current={every === isWhole ? 'true' : undefined}>
              {every ? 'All values' : 'Only differences'}
            </a>
          ))}
        </nav>
      </div>
      {chosen.length > 2 && (
        <p class="notice">You selected {chosen.length} packs. The first two of them are compared.</p>
      )}
      <p>{summaryOf(sections)}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="card table-card scroll" tabIndex={0} aria-label="Two packs">
        <table class="plain-table wide-table stacked comparison">
          <thead>
            <tr>
              <th scope="col">Value</th>
              <th scope="col">First pack</th>
              <th scope="col">Second pack</th>
              <th scope="col">Difference</th>
            </tr>
          </thead>
          <tbody>
            <Row
              label="Pack"
              values={[left, right].map(({ packId }, index) => (
                <MonoLink
                  key={`${index}-${packId}`}
                  href={`${console.base}/packs/${packId}`}
                  text={packId.slice(0, 8)}
                />
              ))}
            />
            <Row label="Composed" values={[instantText(left.generatedAt), instantText(right.generatedAt)]} />
            <Row
              label="Signal level"
              values={[left, right].map(({ level }, index) => (
                <LevelPill key={`${index}-${level.code}`} level={level.code} />
              ))}
              isDifferent={left.level.code !== right.level.code}
            />
            <ValueRow label="Borrower" values={[left.borrower ?? '—', right.borrower ?? '—']} />
            <ValueRow label="Buyer" values={[left.order.buyer, right.order.buyer]} />
            <ValueRow label="Subcontractor" values={[left.order.subcontractor, right.order.subcontractor]} />
            <ValueRow label="Order" values={[left.order.value, right.order.value]} />
            {sections.map((section) => (
              <SectionRows key={section.key} section={section} isWhole={isWhole} />
            ))}
          </tbody>
        </table>
      </section>
    </>,
  )
}

function sendChoice(context: Context, console: Console): void {
  sendConsole(
    context,
    console,
    PAGE,
    <>
      <Crumb href={`${console.base}/packs`} label="Packs" />
      <h1>Compare two packs</h1>
      <EmptyCard title="Select two packs" action={{ label: 'Choose packs', href: `${console.base}/packs` }}>
        <p>
          A comparison shows which values differ, for example between two orders of one borrower. Tick two packs in the
          list, then choose <b>Compare two</b>.
        </p>
      </EmptyCard>
    </>,
  )
}

interface ComparedPack extends PackDocument {
  borrower: string | null
}

/** @throws NotFoundError also for a pack that is not composed */
async function readPack(context: Context, console: Console, id: string): Promise<ComparedPack> {
  const { body, evidence, borrower } = await requirePack(context, console, id)
  if (body === null) throw new NotFoundError('One of the packs is not composed yet.')
  return { ...packDocument({ body, evidence, env: console.env }), borrower }
}

/** The signals of one card in both packs. A pack can lack the card. */
interface Section {
  key: string
  title: string
  tiers: readonly [string | undefined, string | undefined]
  values: { label: string; texts: readonly [string, string] }[]
}

function sectionsOf(left: ComparedPack, right: ComparedPack): Section[] {
  const keys = new Set([...left.cards, ...right.cards].map(({ key }) => key))
  return [...keys].map((key) => {
    const [a, b] = [left, right].map(({ cards }) => cards.find((card) => card.key === key))
    const labels = new Set([...(a?.values ?? []), ...(b?.values ?? [])].map(({ label }) => label))
    return {
      key,
      title: (a ?? b)?.title ?? key,
      tiers: [a?.tier, b?.tier],
      values: [...labels].map((label) => ({ label, texts: [textOf(a, label), textOf(b, label)] as const })),
    }
  })
}

function differencesOf({ values }: Section): Section['values'] {
  return values.filter(({ texts: [a, b] }) => a !== b)
}

function summaryOf(sections: readonly Section[]): string {
  const count = sections.reduce((sum, section) => sum + differencesOf(section).length, 0)
  if (count === 0) return 'All signals have the same values.'
  const differing = sections.filter((section) => differencesOf(section).length > 0).length
  return `${count} ${count === 1 ? 'value differs' : 'values differ'}, in ${differing} of ${sections.length} signals.`
}

/** Shows only different values, unless all are requested. */
function SectionRows({ section, isWhole }: { section: Section; isWhole: boolean }) {
  const { title, tiers, values } = section
  const shown = isWhole ? values : differencesOf(section)
  const isDifferent = tiers[0] !== tiers[1]
  if (!isWhole && shown.length === 0 && !isDifferent) return null
  return (
    <>
      <Row
        label={title}
        variant="comparison-head"
        values={tiers.map((tier, index) => (tier ? <Tier key={`${index}-${tier}`} tier={tier} /> : '—'))}
        isDifferent={isDifferent}
      />
      {shown.map(({ label, texts }) => (
        <ValueRow key={label} label={label} values={texts} />
      ))}
    </>
  )
}

function textOf(card: Card | undefined, label: string): string {
  return card?.values.find((value) => value.label === label)?.value ?? '—'
}

function ValueRow({ label, values: [a, b] }: { label: string; values: readonly [string, string] }) {
  const cells = [<PackValue key="first" value={a} />, <PackValue key="second" value={b} />]
  return <Row label={label} values={cells} isDifferent={a !== b} />
}

function Row(props: { label: string; values: readonly ComponentChildren[]; isDifferent?: boolean; variant?: string }) {
  const { label, values, isDifferent = false, variant } = props
  return (
    <tr class={variant}>
      <th scope="row">{label}</th>
      {values.map((value, index) => (
        <td key={`${index}-value`} class="figure" data-label={index === 0 ? 'First' : 'Second'}>
          {value}
        </td>
      ))}
      <td>{isDifferent && <span class="pill">differs</span>}</td>
    </tr>
  )
}
