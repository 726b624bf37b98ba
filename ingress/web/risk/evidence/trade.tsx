import { instantText } from '#shared/risk/packs/pdf/figures.ts'
import { listDocuments, listTradePacks, listVerifications } from '#shared/risk/trade/store.ts'
import type { TradeDocument, TradeFinding } from '#shared/risk/trade/trade-pack.ts'
import { EmptyCard } from '../../lists/empty-card.tsx'
import { readBySeq } from '../../lists/paging.ts'
import type { Context, Pages } from '../../shell/context.ts'
import { CONSOLE, type Console, loadConsole, mayIn, sendList } from '../console.tsx'
import { codeName } from './names.ts'
import type { AnchoredRecord } from './record-anchor.tsx'
import { tradeForms } from './trade-forms.ts'
import { downloadFile, showDocument, showPack, showVerification } from './trade-pages.tsx'
import { actionIn, BUILD, documentColumns, Outcome, RECORD, VERIFY } from './trade-parts.tsx'

const AREA = { area: 'trade' } as const

export function tradePages(pages: Pages): void {
  pages.get(`${CONSOLE}/trade`, showTrade)
  // Before the pages whose parameter would take `new` for a pack.
  tradeForms(pages)
  pages.get(`${CONSOLE}/trade/documents`, showDocuments)
  pages.get(`${CONSOLE}/trade/documents/:document`, showDocument)
  pages.get(`${CONSOLE}/trade/verifications`, showVerifications)
  pages.get(`${CONSOLE}/trade/verifications/:verification`, showVerification)
  pages.get(`${CONSOLE}/trade/packs/:pack`, showPack)
  pages.get(`${CONSOLE}/trade/packs/:pack/:file`, downloadFile)
}

async function showTrade(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const base = `${console.base}/trade`
  const { db } = context.deps
  const listed = await readBySeq(context, (before, limit) => listTradePacks(db, console, { before, limit }))
  // Stored as we anchored it.
  const recordOf = ({ record }: { record: string }) => JSON.parse(record) as PackRecord
  const hasDocuments = (await listDocuments(db, console, { before: null, limit: 1 })).length > 0
  const first = hasDocuments ? BUILD : RECORD
  sendList(context, console, {
    ...AREA,
    title: 'Trade',
    label: 'Packs',
    path: '/trade',
    actions: listed.rows.length > 0 ? [BUILD] : [],
    more: [...(first === RECORD || listed.rows.length > 0 ? [RECORD] : []), ...VERIFY],
    intro: <TradeLists console={console} current="" />,
    variant: 'wide-table stacked',
    columns: [
      {
        title: 'Pack',
        variant: 'breakable',
        cell: ({ id, title }) => <a href={`${base}/packs/${id}`}>{title ?? id}</a>,
      },
      { title: 'Documents', isLabelled: true, variant: 'figure', cell: (pack) => recordOf(pack).documents },
      { title: 'Verifications', isLabelled: true, variant: 'figure', cell: (pack) => recordOf(pack).checks },
      { title: 'Issued', isLabelled: true, cell: (pack) => instantText(recordOf(pack).timestamp) },
    ],
    empty: (
      <EmptyCard title="No packs yet" action={actionIn(console, first)}>
        <ol>
          <li>Record the documents of a shipment. Only their hashes are sent, never the files.</li>
          <li>Verify the shipping bill, the e-BRC or the exporter code in the registries.</li>
          <li>Build a pack from both. It is signed and anchored, so that anyone can verify it.</li>
        </ol>
      </EmptyCard>
    ),
    ...listed,
  })
}

const LISTS = [
  ['', 'Packs'],
  ['/documents', 'Documents'],
  ['/verifications', 'Verifications'],
] as const

function TradeLists({ console, current }: { console: Console; current: (typeof LISTS)[number][0] }) {
  return (
    <nav class="chips" aria-label="Trade">
      {LISTS.map(([path, label]) => (
        <a key={path} href={`${console.base}/trade${path}`} aria-current={path === current ? 'true' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  )
}

interface PackRecord extends AnchoredRecord {
  documents: number
  checks: number
}

async function showDocuments(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const { rows, pages } = await readBySeq(context, (before, limit) =>
    listDocuments(context.deps.db, console, { before, limit }),
  )
  sendList(context, console, {
    ...AREA,
    title: 'Documents',
    path: '/trade/documents',
    actionPath: '/trade',
    actions: rows.length > 0 ? [RECORD] : [],
    more: rows.length > 0 ? [BUILD] : [],
    intro: <TradeLists console={console} current="/documents" />,
    variant: 'wide-table stacked',
    columns: [
      ...documentColumns(console),
      { title: 'Recorded', isLabelled: true, cell: ({ timestamp }: TradeDocument) => instantText(timestamp) },
    ],
    rows: rows.map(({ body }) => JSON.parse(body) as TradeDocument),
    empty: (
      <EmptyCard title="No documents yet" action={actionIn(console, RECORD)}>
        <p>Record an invoice, a packing list or a bill of lading by its hash. The file stays with you.</p>
      </EmptyCard>
    ),
    pages,
  })
}

async function showVerifications(context: Context): Promise<void> {
  const console = await loadConsole(context, 'view')
  const path = '/trade/verifications'
  const [main, ...others] = VERIFY
  const { rows, pages } = await readBySeq(context, (before, limit) =>
    listVerifications(context.deps.db, console, { before, limit }),
  )
  sendList(context, console, {
    ...AREA,
    title: 'Verifications',
    path,
    actionPath: '/trade',
    actions: rows.length > 0 && main ? [main] : [],
    more: rows.length > 0 ? others : [],
    intro: <TradeLists console={console} current="/verifications" />,
    variant: 'wide-table stacked',
    columns: [
      {
        title: 'Verified',
        cell: ({ verificationId, subjectKind }) => (
          <a href={`${console.base}${path}/${verificationId}`}>{codeName(subjectKind)}</a>
        ),
      },
      {
        title: 'Result',
        isLabelled: true,
        cell: ({ results }) => <Outcome checks={results} />,
      },
      { title: 'Verified at', isLabelled: true, cell: ({ timestamp }) => instantText(timestamp) },
    ],
    rows: rows.map(({ body }) => JSON.parse(body) as TradeFinding),
    empty: (
      <EmptyCard title="No verifications yet" action={main ? actionIn(console, main) : null}>
        <p>Compare a shipping bill, an e-BRC or an exporter code with the record of the registry.</p>
        {mayIn(console, 'edit') && (
          <ul>
            {others.map(([to, label]) => (
              <li key={to}>
                <a href={`${console.base}/trade${to}`}>{label}</a>
              </li>
            ))}
          </ul>
        )}
      </EmptyCard>
    ),
    pages,
  })
}
