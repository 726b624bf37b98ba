// The report of a verification on the page.

import { eventOf } from './verify-proof.js'

export const report = document.querySelector('[data-report]')

/**
 * Facts of the current verification that the report shows above its steps. `count` and `unchecked` are about the files
 * of a package. `offline` is the transaction and the file name for the commands below the form.
 */
export const shown = {}

const NO_FACTS = { object: undefined, documents: undefined, env: undefined, origin: undefined, offline: undefined }

/** The part of a package that is being verified, and the result before it. */
let part

export function clear(result) {
  Object.assign(shown, NO_FACTS, { isSandbox: false, count: undefined, unchecked: [] })
  part = undefined
  report.replaceChildren()
  report.dataset.result = result
  report.hidden = false
}

/** Begins the report about a file of a package. */
export function startPart(name) {
  const section = document.createElement('section')
  const title = document.createElement('h3')
  title.textContent = name
  title.className = 'breakable'
  section.append(title)
  report.append(section)
  Object.assign(shown, NO_FACTS)
  part = { section, title, isFailed: false }
}

/** Shows the content of the file, unless a step failed. */
export function endPart() {
  if (!part.isFailed) part.title.after(...contentFacts())
  Object.assign(shown, NO_FACTS)
  part = undefined
}

export function line(result, text) {
  const item = document.createElement('li')
  const pill = document.createElement('span')
  pill.className = { passed: 'pill good', failed: 'pill bad', open: 'pill' }[result]
  pill.textContent = { passed: 'ok', failed: 'failed', open: 'open' }[result]
  item.append(pill, ' ', ...withShortHashes(text))
  list().append(item)
  if (part && result === 'failed') part.isFailed = true
  if (result === 'failed') report.dataset.result = 'failed'
  else if (result === 'open' && report.dataset.result !== 'failed') report.dataset.result = 'open'
  return result === 'passed'
}

/** Shows only the ends of hashes; the title contains the whole hash. */
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
  const target = part?.section ?? report
  const found = target.querySelector(':scope > ul')
  if (found) return found
  const made = document.createElement('ul')
  made.className = 'bare'
  target.append(made)
  return made
}

export function conclude() {
  const title = document.createElement('h2')
  const { result } = report.dataset
  title.className = 'verification-title'
  const isCounted = shown.count !== undefined && (result === 'verified' || result === 'sandbox')
  title.textContent = {
    verified: 'Verified',
    sandbox: 'Verified in the sandbox',
    included: 'In the log. Now check your file',
    failed: 'Not verified',
    open: 'Not all of it could be verified',
  }[result]
  if (isCounted) title.append(`: ${shown.count}`)
  report.prepend(title, ...sandboxBand(), ...(result === 'failed' ? [] : contentFacts()))
  if (shown.unchecked.length > 0) report.append(uncheckedFiles(shown.unchecked))
  if (result !== 'failed') fillCommands()
  report.focus()
}

/** Writes the verified file, its transaction and its log into the commands of the offline verifier. */
function fillCommands() {
  const { env, offline } = shown
  const lines = document.querySelector('[data-offline] code')
  if (!env || !offline) return
  const name = /^[\w.][\w.-]*$/.test(offline.name) ? offline.name : `'./${offline.name.replaceAll("'", "'\\''")}'`
  const text = lines.textContent
    .replace(/^TX=.*/m, () => `TX=${offline.txId}`)
    .replace(/transparency\/\w+\/policy/, () => `transparency/${env}/policy`)
    .replace(/verify -- .* --proof/, () => `verify -- ${name} --proof`)
  lines.textContent = text
  document.querySelector('[data-offline] [data-copy]').dataset.copy = text
}

function uncheckedFiles(names) {
  const title = document.createElement('h3')
  title.textContent = 'Not checked'
  const text = document.createElement('p')
  text.textContent = 'The origin of these files is not proven. Do not rely on them.'
  const list = document.createElement('ul')
  list.className = 'bare mono breakable'
  for (const name of names) {
    const item = document.createElement('li')
    item.textContent = name
    list.append(item)
  }
  const section = document.createElement('section')
  section.append(title, text, list)
  return section
}

function sandboxBand() {
  if (!shown.isSandbox) return []
  const band = document.createElement('p')
  band.className = 'sandbox-band'
  const strong = document.createElement('strong')
  strong.textContent = 'SANDBOX: not evidence.'
  band.append(strong, ' The content describes no real business.')
  return [band]
}

/** Shows the content of a verified file, so that a reader can compare it with the paper. */
function contentFacts() {
  const { object, documents = [], origin } = shown
  if (!object) return []
  const { signalLevel, signals, packId, cutOffDate, size, sumPaise } = object
  const event = eventOf(object)
  const facts = [
    ['Level', signalLevel],
    ['Borrower', signals ? 'not named in the pack: ask the sender' : undefined],
    ['Buyer', signals?.tradeRelationship?.ab?.counterpartyGstin],
    ['Subcontractor', signals?.tradeRelationship?.bc?.counterpartyGstin],
    ['Order value', rupees(signals?.borrowerCapacity?.orderValueInr)],
    ['Pack', packId],
    ['Type', packId ? undefined : typeName(event)],
    ['Cut-off date', cutOffDate],
    ['Receivables', cutOffDate && size],
    ['Sum', sumPaise && rupees(Number(sumPaise) / 100)],
    ...documents.map((text, index) => [`Document ${index + 1}`, text]),
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
    detail.className = 'breakable'
    row.append(term, detail)
    list.append(row)
  }
  return [list]
}

/** `securitisation.pool_cut` is `securitisation: pool cut`. */
const typeName = (event) => event?.eventType.split('.').join(': ').replaceAll('_', ' ')

function rupees(amount) {
  if (typeof amount !== 'number') return null
  return new Intl.NumberFormat('en-IN', { style: 'currency', currency: 'INR' }).format(amount)
}
