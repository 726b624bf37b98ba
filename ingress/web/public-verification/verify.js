// Verifies anchored JSON and PDFs in this browser: recomputes the hash, the log entry, the inclusion proof and the
// signature. Only values that can be recomputed from the file itself are trusted.

import { checkLog } from './verify-log.js'
import { canonicalize, encoder, eventOf, hasTwins, leafHash, sha256, TX_ID, toHex } from './verify-proof.js'
import { clear, conclude, line, report, shown } from './verify-report.js'
import { verifyUptime } from './verify-uptime.js'

const form = document.querySelector('form[data-verify]')

/** Checks the hash and the entry of an object. @returns its txId when both hold */
async function checkObject(object) {
  const { anchor, ...rest } = object
  if (!anchor || !TX_ID.test(String(anchor.txId))) {
    line('failed', 'The file has no anchor: it is not a pack, or was cut.')
    return null
  }
  const digest = toHex(await sha256(encoder.encode(canonicalize(rest))))
  const isSame = line(
    digest === anchor.payloadSha256 ? 'passed' : 'failed',
    digest === anchor.payloadSha256
      ? `The content hashes to ${digest}, as its anchor says.`
      : `The content hashes to ${digest}, not to what its anchor says: it was changed.`,
  )
  if (!isSame) return null
  const event = eventOf(rest)
  if (!event) {
    line('failed', 'The content does not say what it is and when it was made.')
    return null
  }
  const entry = encoder.encode(canonicalize({ v: 1, ...event, payloadSha256: digest }))
  const txId = toHex(await leafHash(entry))
  const isEntry = line(
    txId === anchor.txId ? 'passed' : 'failed',
    txId === anchor.txId
      ? 'The transaction is the hash of the log entry for this content.'
      : 'The transaction is not that of a log entry for this content.',
  )
  return isEntry ? txId : null
}

async function verifyText(text) {
  let object
  try {
    object = JSON.parse(text)
  } catch {
    return line('failed', 'This is not JSON.')
  }
  if (object === null || typeof object !== 'object' || Array.isArray(object))
    return line('failed', 'This is not a pack.')
  if (hasTwins(text)) return line('failed', 'The text names a member twice: it can be read in two ways.')
  if (Array.isArray(object.records) && Array.isArray(object.statements)) return await verifyUptime(object)
  shown.object = object
  const txId = await checkObject(object)
  if (txId) await checkLog(txId)
}

/** Returns the pack that is attached to a PDF of ours, which does not compress its streams. The hash of the PDF covers it. */
function attachedPack(bytes) {
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

/** A PDF of ours has an anchored statement that names its hash. */
async function verifyPdf(bytes) {
  const digest = toHex(await sha256(bytes))
  const answer = await fetch(new URL(`../verify/files/${digest}`, import.meta.url))
  if (!answer.ok) return line('failed', `No document with the hash ${digest} was issued here: it was changed.`)
  const statement = await answer.json()
  const isNamed = statement.pdfSha256 === digest
  line(
    isNamed ? 'passed' : 'failed',
    `The document hashes to ${digest}; the statement about pack ${statement.packId} names it.`,
  )
  if (isNamed) shown.object = attachedPack(bytes)
  const txId = isNamed && (await checkObject(statement))
  if (txId) await checkLog(txId)
}

/** @param result used if no step fails or stays open */
async function run(result, work) {
  clear(result)
  try {
    await work()
  } catch {
    line('open', 'The check could not be finished: the service did not answer as it should.')
  }
  conclude()
}

if (form && report) {
  if (globalThis.crypto?.subtle) {
    form.hidden = false
    const zone = form.querySelector('.drop-zone')
    for (const name of ['dragenter', 'dragover'])
      zone.addEventListener(name, (event) => {
        event.preventDefault()
        zone.classList.add('is-over')
      })
    zone.addEventListener('dragleave', () => zone.classList.remove('is-over'))
    zone.addEventListener('drop', (event) => {
      event.preventDefault()
      zone.classList.remove('is-over')
      if (event.dataTransfer.files.length === 0) return
      form.elements.file.files = event.dataTransfer.files
      form.requestSubmit()
    })
    form.elements.file.addEventListener('change', () => form.requestSubmit())
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      const [file] = form.elements.file.files
      void run('verified', async () => {
        if (!file) return await verifyText(form.elements.pack.value)
        const bytes = new Uint8Array(await file.arrayBuffer())
        const isPdf = new TextDecoder().decode(bytes.subarray(0, 5)) === '%PDF-'
        if (isPdf) await verifyPdf(bytes)
        else await verifyText(new TextDecoder().decode(bytes))
      })
    })
    const { txId } = report.dataset
    if (txId) {
      void run('included', async () => {
        await checkLog(txId)
        const hint = document.createElement('p')
        hint.textContent = 'To see that a pack is the one behind it, choose its file or paste its JSON below.'
        report.append(hint)
      })
    }
  } else document.querySelector('[data-insecure]').hidden = false
}
