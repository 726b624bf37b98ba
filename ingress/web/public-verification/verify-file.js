// Verifies one file: anchored JSON, a bundle of trade documents, the proof of an uptime, or the PDF of a pack.

import { verifyBundle } from './verify-bundle.js'
import { checkLog } from './verify-log.js'
import { anchorOf, hasTwins, sha256, TX_ID, toHex } from './verify-proof.js'
import { line, shown } from './verify-report.js'
import { verifyUptime } from './verify-uptime.js'

/** Verifies the hash and the log entry of an object. @returns its txId if both are correct */
async function checkObject(object) {
  const { anchor } = object
  if (!anchor || !TX_ID.test(String(anchor.txId))) {
    line('failed', 'The file has no anchor: it is no pack, record or bundle of this product, or it is incomplete.')
    return null
  }
  const { digest, txId } = await anchorOf(object)
  const isSame = line(
    digest === anchor.payloadSha256 ? 'passed' : 'failed',
    digest === anchor.payloadSha256
      ? `The content hashes to ${digest}, as its anchor states.`
      : `The content hashes to ${digest}, but its anchor states another hash: it was changed.`,
  )
  if (!isSame) return null
  if (txId === null) {
    line('failed', 'The content has no type or no time.')
    return null
  }
  const isEntry = line(
    txId === anchor.txId ? 'passed' : 'failed',
    txId === anchor.txId
      ? 'The transaction is the hash of the log entry for this content.'
      : 'The transaction belongs to another content.',
  )
  return isEntry ? txId : null
}

/**
 * @param name of the file; undefined for pasted text
 * @returns the signed statement of a verified bundle of trade documents
 */
export async function verifyText(text, name) {
  let object
  try {
    object = JSON.parse(text)
  } catch {
    return void line('failed', 'This is not JSON.')
  }
  if (object === null || typeof object !== 'object' || Array.isArray(object))
    return void line('failed', 'This is not a pack: a JSON object is expected.')
  if (hasTwins(text)) return void line('failed', 'The text names a member twice, so programs may read it differently.')
  if (isUptime(object)) return void (await verifyUptime(object))
  if (isBundle(object)) return await verifyBundle(object, checkObject)
  shown.object = object
  const txId = await checkObject(object)
  if (!txId) return
  await checkLog(txId)
  shown.offline = { txId, name: name ?? packFileName(object) ?? 'object.json' }
}

/** The name of the file that a PDF contains and that the console downloads. */
const packFileName = ({ packId }) => (packId ? `pack-${String(packId).slice(0, 8)}.json` : undefined)

const isUptime = ({ records, statements }) => Array.isArray(records) && Array.isArray(statements)
const isBundle = ({ envelope, record }) => Boolean(envelope && record)

/** Returns true if the text of a file in a package is of a kind that `verifyText` verifies. */
export function isVerifiable(text) {
  try {
    const object = JSON.parse(text)
    return isUptime(object) || isBundle(object) || TX_ID.test(String(object.anchor?.txId))
  } catch {
    return false
  }
}

/** Returns the pack attached to a PDF, whose streams are not compressed. The hash of the PDF covers it. */
export function attachedPack(bytes) {
  // One character per byte, so that offsets in the text are offsets in the file.
  const text = new TextDecoder('latin1').decode(bytes)
  for (const { index } of text.matchAll(/\/Type \/EmbeddedFile\s/g)) {
    const start = text.indexOf('stream\n', index)
    const length = /\/Length (\d+)/.exec(text.slice(index, start))?.[1]
    const from = start + 'stream\n'.length
    try {
      const object = JSON.parse(new TextDecoder().decode(bytes.subarray(from, from + Number(length))))
      if (object.signalLevel) return object
    } catch {
      // Another attachment.
    }
  }
  return undefined
}

/** Verifies the PDF of a pack: the log contains a statement with its hash. */
export async function verifyPdf(bytes) {
  const digest = toHex(await sha256(bytes))
  const answer = await fetch(new URL(`../verify/files/${digest}`, import.meta.url))
  if (!answer.ok) {
    return line(
      'failed',
      `This service issued no pack PDF with the hash ${digest}: the file was changed, or it is another document.`,
    )
  }
  const statement = await answer.json()
  const isNamed = statement.pdfSha256 === digest
  line(
    isNamed ? 'passed' : 'failed',
    `The document hashes to ${digest}; the statement about pack ${statement.packId} names it.`,
  )
  if (isNamed) shown.object = attachedPack(bytes)
  const txId = isNamed && (await checkObject(statement))
  if (!txId) return
  await checkLog(txId)
  const { anchor } = shown.object ?? {}
  // The offline verifier reads the attached pack.
  if (TX_ID.test(String(anchor?.txId))) shown.offline = { txId: anchor.txId, name: packFileName(shown.object) }
}
