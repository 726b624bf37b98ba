import type { Knex } from 'knex'
import { columns, execute, query, typed } from '../../platform/database/sql.ts'
import type { Secrets } from '../../platform/process/secrets.ts'
import type { InvoiceKey } from '../packs/signals/invoice-keys.ts'
import { generateSandboxKey, sandboxInvoiceKey } from '../registries/sandbox/demo-invoices.ts'

const INVOICE_KEY_COLUMNS = columns<InvoiceKey>()(`
  issuer, kid, spki_pem, to_char(not_before, 'YYYY-MM-DD') AS notBefore, to_char(not_after, 'YYYY-MM-DD') AS notAfter,
  env, provenance`)

/** Keys are few and rarely change. */
export async function listInvoiceKeys(db: Knex): Promise<InvoiceKey[]> {
  const rows = await query(db, typed`SELECT ${INVOICE_KEY_COLUMNS} FROM invoice_keys ORDER BY issuer, kid`)
  return rows
}

export async function saveInvoiceKey(db: Knex, key: InvoiceKey, sealedPrivateKey: string | null = null): Promise<void> {
  await execute(
    db,
    `INSERT INTO invoice_keys (issuer, kid, env, spki_pem, not_before, not_after, provenance, sealed_private_key)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (issuer, kid) DO UPDATE SET not_before = excluded.not_before, not_after = excluded.not_after,
       provenance = excluded.provenance`,
    [key.issuer, key.kid, key.env, key.spkiPem, key.notBefore, key.notAfter, key.provenance, sealedPrivateKey],
  )
}

/** Lock for the creation of the sandbox's key; an arbitrary number. */
const SANDBOX_KEY_LOCK = 7_419_302

/** Signs demo e-invoices (PKCS#8 PEM). Once per installation. Throws under another SECRET_KEY. */
export async function ensureSandboxKey(db: Knex, secrets: Secrets): Promise<string> {
  return await db.transaction(async (tx) => {
    await execute(tx, 'SELECT pg_advisory_xact_lock(?)', [SANDBOX_KEY_LOCK])
    const rows = await query<{ sealed: string }>(
      tx,
      `SELECT sealed_private_key AS sealed FROM invoice_keys WHERE env = 'SANDBOX' AND sealed_private_key IS NOT NULL`,
    )
    if (rows[0]) return secrets.open('invoice-key', rows[0].sealed)
    const pem = generateSandboxKey()
    await saveInvoiceKey(tx, sandboxInvoiceKey(pem), secrets.seal('invoice-key', pem))
    return pem
  })
}
