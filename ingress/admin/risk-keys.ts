import { createHash, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { listInvoiceKeys, saveInvoiceKey } from '#shared/risk/invoice-keys/store.ts'
import type { InvoiceKey } from '#shared/risk/packs/signals/invoice-keys.ts'
import { generateTokenKey } from '#shared/tenancy/oauth/access-token.ts'
import { rotateTokenKeys } from '#shared/tenancy/oauth/store.ts'
import { type Command, envOf, envOption, lines, textOf, UsageError } from './command.ts'

const rotate: Command = {
  noun: 'token-key',
  verb: 'rotate',
  summary: 'Let the announced key sign access tokens, and announce a new one',
  help: ['Live tokens stay valid: the key before is published for another day.'],
  options: {},
  async run(_options, { db, secrets }) {
    const next = await generateTokenKey('ES256')
    const kid = await rotateTokenKeys(db, next, secrets.seal('token-key', JSON.stringify(next.privateJwk)))
    const shown = { signing: kid, announced: next.kid }
    return { json: shown, text: lines(shown) }
  },
}

const addInvoiceKey: Command = {
  noun: 'invoice-key',
  verb: 'add',
  summary: "Trust an e-invoice portal's certificate",
  help: ['Tokens name their key by the SHA-1 thumbprint of the certificate, so the certificate itself is needed.'],
  options: {
    issuer: { description: 'iss of its tokens, such as NIC', value: 'NAME', required: true },
    certificate: { description: 'PEM file', value: 'FILE', required: true },
    env: envOption,
    provenance: { description: 'where it was obtained; shown in evidence', value: 'TEXT', required: true },
  },
  async run(options, { db }) {
    const env = envOf(options)
    const certificate = await readCertificate(textOf(options, 'certificate'))
    const key: InvoiceKey = {
      issuer: textOf(options, 'issuer'),
      kid: createHash('sha1').update(certificate.raw).digest('hex').toUpperCase(),
      spkiPem: certificate.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      notBefore: certificate.validFromDate.toISOString().slice(0, 10),
      notAfter: certificate.validToDate.toISOString().slice(0, 10),
      env,
      provenance: textOf(options, 'provenance'),
    }
    await saveInvoiceKey(db, key)
    return { json: key, text: lines({ ...key }) }
  },
}

const listInvoice: Command = {
  noun: 'invoice-key',
  verb: 'list',
  summary: 'List the e-invoice keys that are trusted',
  options: {},
  async run(_options, { db }) {
    const keys = await listInvoiceKeys(db)
    return { json: keys, text: keys.map(({ issuer, kid, env }) => `${kid}  ${env}  ${issuer}`).join('\n') }
  },
}

async function readCertificate(path: string): Promise<X509Certificate> {
  try {
    return new X509Certificate(await readFile(path))
  } catch {
    throw new UsageError(`${path} is not a certificate in PEM`)
  }
}

export const riskKeyCommands: readonly Command[] = [rotate, addInvoiceKey, listInvoice]
