// Verifies the daily statements about a check. The proofs are in the file; only the key of the log is requested.

import { checkSignature } from './verify-log.js'
import { canonicalize, encoder, fromBase64, fromHex, leafHash, rootOf, sha256, toHex } from './verify-proof.js'
import { line, report } from './verify-report.js'

const DAY = 86_400

/** Verifies a response of `.../uptime-proof`. A line about a failed day begins with its date. */
export async function verifyUptime({ check, name, from, until, records, statements, proofs }) {
  const hashes = await Promise.all(
    records.map(async (record) => toHex(await sha256(encoder.encode(canonicalize(record))))),
  )
  const found = new Map(records.map((record, index) => [hashes[index], record]))
  const areRecordsValid = records
    .map((record, index) => checkRecord(record, hashes[index], check, statements))
    .every(Boolean)
  if (areRecordsValid)
    line('passed', `All ${records.length} records are in the statements of their days, and their sums are correct.`)
  const isChain = statements.every((statement, index) => checkLink(statement, index, statements))
  if (isChain) line('passed', `${statements.length} statements in a chain without gaps.`)
  let isAnchored = true
  for (const [index, statement] of statements.entries())
    isAnchored = (await checkStatement(statement, proofs[index])) && isAnchored
  if (isAnchored) {
    line('passed', 'Each statement is in the log, under a checkpoint.')
    const notes = new Map(proofs.map(({ checkpoint, env }) => [checkpoint, env]))
    for (const [checkpoint, env] of notes) await checkSignature(checkpoint.split('\n')[0], env, checkpoint)
  }
  const days = daysOf({ from, until, statements, found })
  if (report.dataset.result !== 'failed') showUptime({ name, from, until }, days)
}

function checkRecord(record, hash, check, statements) {
  const { date, up, down } = record
  const isStated = statements.some((statement) => statement.date === date && statement.records.includes(hash))
  if (!isStated) return line('failed', `${date}: the record is not in the statement of its day: it was changed.`)
  if (record.check !== check) return line('failed', `${date}: the record belongs to another check.`)
  const sums = sumsOfDay(record)
  if (sums.up === up && sums.down === down) return true
  return line('failed', `${date}: the sums of the record do not follow from its flips.`)
}

function checkLink({ date, previous, corrects }, index, statements) {
  const before = statements.slice(0, index)
  if (index > 0 && previous !== before.at(-1).anchor.txId)
    return line('failed', `${date}: the statement does not name the previous one.`)
  if (corrects === null || before.some((each) => each.anchor.txId === corrects && each.date === date)) return true
  return line('failed', `${date}: the correction names no earlier statement of its day.`)
}

/** Verifies hash, log entry and inclusion of one statement. */
async function checkStatement({ anchor, ...rest }, proof) {
  const digest = toHex(await sha256(encoder.encode(canonicalize(rest))))
  const entry = { v: 1, eventType: rest.eventType, timestamp: rest.timestamp, payloadSha256: digest }
  const txId = toHex(await leafHash(encoder.encode(canonicalize(entry))))
  if (digest !== anchor.payloadSha256 || txId !== anchor.txId)
    return line('failed', `${rest.date}: the statement differs from the logged one: it was changed.`)
  if (!proof || proof.index === null) return line('open', `${rest.date}: no checkpoint covers the statement yet.`)
  const [, size, root] = proof.checkpoint.split('\n')
  const reached = await rootOf(fromHex(txId), proof.index, Number(size), proof.proof.map(fromBase64))
  if (reached !== null && toHex(reached) === toHex(fromBase64(root))) return true
  return line('failed', `${rest.date}: the proof does not lead to the root of its checkpoint.`)
}

/** Returns the newest record of each day, and reports the days without one. */
function daysOf({ from, until, statements, found }) {
  const days = []
  const missing = []
  for (let at = Date.parse(from); at <= Date.parse(until); at += DAY * 1000) {
    const date = new Date(at).toISOString().slice(0, 10)
    const stated = statements.filter((statement) => statement.date === date)
    const recordsOfDay = stated.map(({ records }) => found.get(records.find((hash) => found.has(hash))))
    if (recordsOfDay.length === 0 || recordsOfDay.includes(undefined)) missing.push(date)
    else days.push(recordsOfDay.at(-1))
  }
  if (missing.length > 0) {
    const more = missing.length > 10 ? ` and ${missing.length - 10} more days` : ''
    line('open', `No record of this check for ${missing.slice(0, 10).join(', ')}${more}.`)
  }
  return days
}

/** Counts each second once, by the first that applies: not monitored, excluded, down, unknown, up. */
function sumsOfDay({ date, first, flips, unknown, excluded }) {
  const begin = Date.parse(`${date}T00:00:00Z`) / 1000
  const second = (instant) => Math.min(DAY, Math.max(0, Math.floor(Date.parse(instant) / 1000) - begin))
  const changes = flips.map(([at, to]) => ({ at: second(at), to }))
  const spans = (list) => list.map(([since, end]) => [second(since), second(end)])
  const [unknownSpans, excludedSpans] = [spans(unknown), spans(excluded)]
  const bounds = new Set([0, DAY, ...changes.map(({ at }) => at), ...unknownSpans.flat(), ...excludedSpans.flat()])
  const ordered = [...bounds].sort((a, b) => a - b)
  const sums = { up: 0, down: 0, unknown: 0 }
  for (const [index, at] of ordered.entries()) {
    const isIn = (list) => list.some(([since, end]) => since <= at && at < end)
    const status = changes.findLast((change) => change.at <= at)?.to ?? first
    if ((status !== 'up' && status !== 'down') || isIn(excludedSpans)) continue
    sums[status === 'up' && isIn(unknownSpans) ? 'unknown' : status] += (ordered[index + 1] ?? DAY) - at
  }
  return sums
}

function showUptime({ name, from, until }, days) {
  const sums = days.map(sumsOfDay)
  const total = (kind) => sums.reduce((sum, each) => sum + each[kind], 0)
  const known = total('up') + total('down')
  const share = known === 0 ? null : Math.floor((total('up') / known) * 10_000) / 100
  const unknownText = total('unknown') > 0 ? ` (unknown: ${Math.floor(total('unknown') / 60)} minutes)` : ''
  const when = from === until ? `on ${from}` : `from ${from} to ${until}`
  line(
    'passed',
    share === null
      ? `${name}: nothing was known ${when}${unknownText}.`
      : `${name} was up ${share} % of the known time ${when}${unknownText}.`,
  )
  line('passed', 'The daily statements are unchanged. The proof does not show that they were true.')
}
