import { sealedColumns } from '#shared/platform/database/sealed-columns.ts'
import { createSecrets, type SealPurpose } from '#shared/platform/process/secrets.ts'
import type { Product } from '../../support/product.ts'

/** The place where a text was found. */
export interface StoredText {
  table: string
  text: string
  /** true if only the holder of the key can read it; false if every reader of the table can */
  isSealed: boolean
}

/** Columns with sealed values that are sealed as bytes or for answers, beside those of the register. */
const others: readonly { table: string; column: string; purpose: SealPurpose }[] = [
  { table: 'idempotency_keys', column: 'body', purpose: 'kept-answer' },
]

/**
 * Looks for texts in every row of every table: in plain text and in decrypted values. Outbox, dead letters,
 * events and the inbox of webhooks are tables.
 */
export async function findTexts({ db, config }: Product, texts: readonly string[]): Promise<StoredText[]> {
  const found: StoredText[] = []
  const wanted = texts.flatMap((text) => formsOf(text).map((form) => ({ text, form })))
  const tables: { name: string }[] = await db('pg_class')
    .select('relname as name')
    .whereIn('relkind', ['r', 'p'])
    .whereRaw(`relnamespace = 'public'::regnamespace`)
  if (tables.length < 80) throw new Error(`only ${tables.length} tables were found`)
  for (const { name } of tables)
    for (const { text, form } of wanted) {
      const { rows } = await db.raw('SELECT 1 FROM ?? t WHERE strpos(t::text, ?) > 0 LIMIT 1', [name, form])
      if (rows.length > 0) found.push({ table: name, text, isSealed: false })
    }
  const secrets = createSecrets(config.secretKey)
  for (const { table, column, purpose } of [...sealedColumns, ...others]) {
    const rows: { sealed: string }[] = await db(table).select(`${column} as sealed`).where(column, 'like', 'v_.%')
    const plain = rows.map(({ sealed }) => secrets.open(purpose, sealed))
    for (const text of texts) {
      // A credential holds its claims encoded.
      const forms = formsOf(text)
      if (plain.some((one) => forms.some((form) => one.includes(form)))) found.push({ table, text, isSealed: true })
    }
  }
  return found
}

/** Returns a text, and its encodings in base64url and hexadecimal at every offset. */
function formsOf(text: string): string[] {
  const shifted = [0, 1, 2].map((shift) => {
    const encoded = Buffer.from(' '.repeat(shift) + text).toString('base64url')
    // The first and last characters also contain bits of neighbouring bytes.
    return encoded.slice(shift === 0 ? 0 : shift + 1, -2)
  })
  return [text, Buffer.from(text).toString('hex'), ...shifted]
}
