// Verifies a bundle of trade documents: its signed statement, and the anchored record that names the statement. Keys in
// the bundle are ignored, because they prove nothing.

import { checkLog } from './verify-log.js'
import { canonicalize, encoder, fromBase64, sha256, toHex } from './verify-proof.js'
import { line, shown } from './verify-report.js'

const STATEMENT_TYPE = 'application/vnd.in-toto+json'

/**
 * @param checkObject verifies the record; returns its txId, or null
 * @returns the statement if the record names it
 */
export async function verifyBundle({ envelope, record }, checkObject) {
  const payload = bytesOf(envelope.payload)
  const statement = readStatement(envelope.payloadType, payload)
  if (!statement) return void line('failed', 'The signed statement cannot be read.')
  const digest = toHex(await sha256(payload))
  const isNamed = line(
    record.statementSha256 === digest ? 'passed' : 'failed',
    record.statementSha256 === digest
      ? `The anchored record names the statement with the hash ${digest}.`
      : 'The anchored record belongs to another statement: one of them was changed.',
  )
  const txId = isNamed && (await checkObject(record))
  if (!txId) return undefined
  shown.object = record
  shown.documents = statement.subject.map(({ digest: { sha256: hash } }, index) => {
    const type = String(statement.predicate.documents[index]?.type ?? 'DOCUMENT')
    return `${type.replaceAll('_', ' ').toLowerCase()}, SHA-256 ${hash}`
  })
  await checkLog(txId)
  if (shown.env) await checkEnvelope(envelope, payload)
  return statement
}

function readStatement(type, payload) {
  const text = new TextDecoder().decode(payload)
  try {
    const statement = JSON.parse(text)
    const isStatement = type === STATEMENT_TYPE && Array.isArray(statement.subject) && statement.predicate?.documents
    return isStatement && canonicalize(statement) === text ? statement : null
  } catch {
    return null
  }
}

/** Verifies the signature over type and payload (DSSE 1.0) by the published keys of the environment. */
async function checkEnvelope({ payloadType, signatures }, payload) {
  const answer = await fetch(new URL(`../v1/transparency/${shown.env}/evidence-keys`, import.meta.url))
  const { keys } = await answer.json()
  const signed = await preAuthEncoding(payloadType, payload)
  for (const { keyid, sig } of signatures) {
    const key = keys.find(({ kid }) => kid === keyid)
    if (!key) continue
    const { kty, crv, x } = key
    const verifier = await crypto.subtle.importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify'])
    const isSigned = await crypto.subtle.verify('Ed25519', verifier, bytesOf(sig), signed)
    return line(
      isSigned ? 'passed' : 'failed',
      isSigned ? 'The statement is signed with a key of this service.' : 'The signature of the statement is wrong.',
    )
  }
  line('failed', 'The statement is signed with no key of this service.')
}

async function preAuthEncoding(type, payload) {
  const head = encoder.encode(`DSSEv1 ${encoder.encode(type).length} ${type} ${payload.length} `)
  return new Uint8Array(await new Blob([head, payload]).arrayBuffer())
}

/** Decodes the standard and the URL-safe alphabet. */
function bytesOf(text) {
  return fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}
