// Verifies anchored JSON and PDFs in this browser: recomputes the hash, the log entry, the inclusion proof and the
// signature. What the service says is only believed where it can be recomputed from the file itself.

const form = document.querySelector('form[data-verify]')
const report = document.querySelector('[data-report]')
const encoder = new TextEncoder()
const TX_ID = /^[0-9a-f]{64}$/

/** RFC 8785. Values come from JSON.parse, so only JSON's own types are met. */
function canonicalize(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonicalize(value[name])}`)
  return `{${members.join(',')}}`
}

async function sha256(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
}

/**
 * Whether an object names a member twice: readers differ in which of the two they show, so such a text proves nothing.
 * @param text valid JSON
 */
function hasTwins(text) {
  const open = []
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set())
    else if (token === '}') open.pop()
    else if (token.endsWith(':')) {
      const name = JSON.parse(token.slice(0, token.lastIndexOf('"') + 1))
      if (open.at(-1).has(name)) return true
      open.at(-1).add(name)
    }
  }
  return false
}

const toHex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
const fromHex = (text) => Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16))
const fromBase64 = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
const leafHash = (entry) => sha256(Uint8Array.of(0), entry)
const nodeHash = (left, right) => sha256(Uint8Array.of(1), left, right)

/** RFC 9162 2.1.3.2: the root that a leaf and its audit path lead to; null when the path has the wrong length. */
async function rootOf(leaf, index, size, path) {
  if (!(index >= 0 && index < size)) return null
  let hash = leaf
  let node = BigInt(index)
  let last = BigInt(size) - 1n
  for (const sibling of path) {
    if (last === 0n) return null
    if (node % 2n === 1n || node === last) {
      hash = await nodeHash(sibling, hash)
      while (node % 2n === 0n && node !== 0n) {
        node /= 2n
        last /= 2n
      }
    } else hash = await nodeHash(hash, sibling)
    node /= 2n
    last /= 2n
  }
  return last === 0n ? hash : null
}

/** What an object says of its own entry in the log. */
function eventOf({ eventType, timestamp, event, occurredAt, packId, generatedAt }) {
  if (eventType && timestamp) return { eventType, timestamp }
  if (event && occurredAt) return { eventType: event, timestamp: occurredAt }
  return packId && generatedAt ? { eventType: 'risk_signals.pack_ready', timestamp: generatedAt } : null
}

/** Facts of the current verification that the report shows above its steps. */
let shown = {}

function clear(result) {
  shown = {}
  report.replaceChildren()
  report.dataset.result = result
  report.hidden = false
}

function line(result, text) {
  const item = document.createElement('li')
  const mark = document.createElement('span')
  mark.className = { passed: 'pill good', failed: 'pill bad', open: 'pill' }[result]
  mark.textContent = { passed: 'ok', failed: 'failed', open: 'open' }[result]
  item.append(mark, ' ', ...withShortHashes(text))
  list().append(item)
  if (result === 'failed') report.dataset.result = 'failed'
  else if (result === 'open' && report.dataset.result !== 'failed') report.dataset.result = 'open'
  return result === 'passed'
}

/** A hash is known by its ends; all of it is in its title, and in what is copied from there. */
function withShortHashes(text) {
  return text.split(/([0-9a-f]{64})/).map((part, index) => {
    if (index % 2 === 0) return part
    const short = document.createElement('code')
    short.textContent = `${part.slice(0, 8)}…${part.slice(-8)}`
    short.title = part
    return short
  })
}

function list() {
  const found = report.querySelector('ul')
  if (found) return found
  const made = document.createElement('ul')
  made.className = 'bare'
  report.append(made)
  return made
}

function conclude() {
  const title = document.createElement('h2')
  const { result } = report.dataset
  title.className = 'verification-title'
  title.textContent = {
    verified: 'Verified',
    sandbox: 'Verified in the sandbox',
    included: 'In the log. Now check your file',
    failed: 'Not verified',
    open: 'Not all of it could be verified',
  }[result]
  report.prepend(title, ...sandboxBand(), ...contentFacts())
  report.focus()
}

function sandboxBand() {
  if (shown.env !== 'sandbox') return []
  const band = document.createElement('p')
  band.className = 'sandbox-band'
  const strong = document.createElement('strong')
  strong.textContent = 'SANDBOX: not evidence.'
  band.append(strong, ' The content describes no real business.')
  return [band]
}

/** Shows the content of a verified file, so that a reader can compare it with the paper. */
function contentFacts() {
  const { object, origin } = shown
  if (!object || report.dataset.result === 'failed') return []
  const { signalLevel, signals, packId } = object
  const event = eventOf(object)
  const facts = [
    ['Level', signalLevel],
    ['Buyer', signals?.tradeRelationship?.ab?.counterpartyGstin],
    ['Subcontractor', signals?.tradeRelationship?.bc?.counterpartyGstin],
    ['Order value', rupees(signals?.borrowerCapacity?.orderValueInr)],
    ['Pack', packId],
    ['Event', packId ? undefined : event?.eventType],
    ['Issued at', event?.timestamp.replace('T', ' ').replace(/(\.\d+)?Z$/, ' UTC')],
    ['Log of the issuer', origin],
  ]
  const list = document.createElement('dl')
  list.className = 'facts'
  for (const [label, value] of facts) {
    if (value === undefined || value === null) continue
    const [row, term, detail] = ['div', 'dt', 'dd'].map((name) => document.createElement(name))
    term.textContent = label
    detail.textContent = String(value)
    detail.className = 'breakable figure'
    row.append(term, detail)
    list.append(row)
  }
  return [list]
}

function rupees(amount) {
  if (typeof amount !== 'number') return null
  return new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(amount)
}

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

/** Checks that the log includes a transaction, under a checkpoint that it signed. */
async function checkLog(txId) {
  const answer = await fetch(`/v1/anchors/${txId}`)
  if (!answer.ok) return line('failed', 'The log of this service does not hold the transaction.')
  const { env, index, proof, checkpoint } = await answer.json()
  shown.env = env
  if (env === 'sandbox' && report.dataset.result === 'verified') report.dataset.result = 'sandbox'
  if (index === null) return line('open', 'The log holds the transaction; no checkpoint covers it yet. Try again soon.')
  const [origin, size, root] = checkpoint.split('\n')
  shown.origin = origin
  const reached = await rootOf(fromHex(txId), index, Number(size), proof.map(fromBase64))
  const isIncluded = reached !== null && toHex(reached) === toHex(fromBase64(root))
  line(
    isIncluded ? 'passed' : 'failed',
    isIncluded
      ? `The proof leads from entry ${index} to the root of the checkpoint of ${size} entries.`
      : 'The proof does not lead to the root of the checkpoint.',
  )
  if (isIncluded) await checkSignature(origin, env, checkpoint)
}

async function checkSignature(origin, env, checkpoint) {
  const end = checkpoint.indexOf('\n\n') + 1
  const text = encoder.encode(checkpoint.slice(0, end))
  const key = (await (await fetch(`/v1/transparency/${env}/log-key`)).text()).trim()
  const material = fromBase64(key.slice(key.indexOf('+', key.indexOf('+') + 1) + 1))
  const signature = checkpoint
    .slice(end + 1)
    .split('\n')
    .find((entry) => entry.startsWith(`— ${origin} `))
  try {
    const verifier = await crypto.subtle.importKey('raw', material.slice(1), 'Ed25519', false, ['verify'])
    const signed = fromBase64(signature.slice(signature.lastIndexOf(' ') + 1)).slice(4)
    const isSigned = await crypto.subtle.verify('Ed25519', verifier, signed, text)
    line(
      isSigned ? 'passed' : 'failed',
      isSigned ? `The checkpoint is signed by ${origin}.` : 'The signature of the checkpoint does not verify.',
    )
  } catch {
    line('open', 'This browser cannot check Ed25519 signatures: use the offline verifier for that.')
  }
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
  const answer = await fetch(`/verify/files/${digest}`)
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
