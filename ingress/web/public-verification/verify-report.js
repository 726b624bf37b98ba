// The report of a verification on the page.

import { eventOf } from './verify-proof.js'

export const report = document.querySelector('[data-report]')

/** Facts of the current verification that the report shows above its steps. */
export const shown = { object: undefined, env: undefined, origin: undefined }

export function clear(result) {
  Object.assign(shown, { object: undefined, env: undefined, origin: undefined })
  report.replaceChildren()
  report.dataset.result = result
  report.hidden = false
}

export function line(result, text) {
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

export function conclude() {
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
