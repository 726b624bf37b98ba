import { readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root, sourcesBelow } from './imports.ts'
import { promisesText, titlesIn } from './promises.ts'

/** What the product is held to, by id: abuse from outside (B), faults of the machinery (F), and what a review found (H, M, L). */
export const cases: Readonly<Record<string, string>> = {
  B01: "a key with another project's ids",
  B02: "another organisation's things under /v1",
  B03: 'a read-only key that writes, pings or learns addresses',
  B04: 'members that a caller must not set',
  B05: 'a family or scope that the token lacks or lost',
  B06: 'sandbox and production mixed',
  B07: "an owner's forms sent by others",
  B08: 'a query that forgot its tenant',
  B09: 'missing, repeated, revoked and malformed keys',
  B10: 'a stolen database dump',
  B11: 'forged tokens',
  B12: 'tokens of another time, place or purpose',
  B13: 'guessing at the token endpoint',
  B14: 'spraying, fixation, cross-site forms, sign-out',
  B15: 'forged hosts, and links opened twice or late',
  B16: "OpenID: replay, other issuers, others' addresses",
  B17: 'request smuggling',
  B18: 'too many and too long headers and addresses',
  B19: 'bodies too long, compressed, or endless',
  B20: 'slow senders and readers, idle connections',
  B21: 'hostile JSON, and bodies of any bytes',
  B22: 'other spellings of a path or method',
  B23: 'hostile parameters and ranges',
  B24: 'forged forwarding headers, many IPv6 addresses',
  B25: 'more requests and pings than the limits allow',
  B26: 'hostile schedules, zones, tags, texts',
  B27: 'checks, runs and tags without end',
  B28: 'errors that tell too much, log lines that lie',
  B29: 'targets in private networks',
  B30: 'names that resolve elsewhere, redirects',
  B31: 'answers without end or sense',
  B32: 'line breaks and templates in outgoing messages',
  B33: 'hostile mail',
  B34: 'forged inbound events',
  B35: 'tampered and replayed webhooks, rotated secrets',
  B36: 'idempotency keys',
  B37: 'false evidence',
  B38: 'what log, events and fingerprints give away',
  B39: 'markup on pages, in bodies, PDFs and badges',
  B40: 'tools and presented credentials',
  F01: 'a worker killed in the middle of a batch',
  F02: 'the broker restarted under load',
  F03: 'the broker absent',
  F04: 'alarms of the broker',
  F05: 'a channel closed by the server',
  F06: 'missing queues and bindings',
  F07: 'lost confirms',
  F08: 'messages delivered more than once',
  F09: 'messages out of order',
  F10: 'messages that kill their handler',
  F11: 'messages that cannot be read',
  F12: 'slow consumers and a large backlog',
  F13: 'the database killed and restarted',
  F14: 'a fail-over, a read-only server',
  F15: 'an exhausted pool, held locks',
  F16: 'a network that falls silent',
  F17: 'serialisation failures, late commits',
  F18: 'a full disk',
  F19: 'clocks that jump, daylight saving',
  F20: 'an outage of our own',
  F21: 'two of everything',
  F22: 'alert targets that misbehave',
  F23: 'webhook endpoints that misbehave',
  F24: 'crashes and roll-backs of the log',
  F25: 'overload, shutdown, rolling upgrade',
  H1: 'a stored mail that stops the ingress',
  H2: 'a PDF that stops the ingress',
  H3: 'a public verification that stops the ingress',
  H4: 'one customer who switches registries off for all',
  H5: 'descriptions without limit',
  H6: 'assignments without limit',
  M1: 'ping addresses shown to those who may only look',
  M2: 'mail to people who did not agree',
  M3: 'stored secrets sent to another address',
  M4: 'no second line of defence in the database',
  M5: 'keeping others signed out',
  M6: 'mail that stops or fills the mail listener',
  M7: 'connections without limit, slow readers',
  M8: 'IPv6 counted by single addresses',
  M9: 'invitations as a mail relay',
  M10: 'a connected identity that outlives its account',
  M11: 'unsafe settings that start',
  M12: 'what a release ships',
  L1: 'values that cannot be stored',
  L2: 'readiness that tells outsiders too much',
  L3: 'two Authorization headers',
  L4: 'lone surrogates in documents',
  L5: 'targets that are never reachable, saved',
  L6: 'no quota by default',
  L7: 'sign-ins and changes by key without an audit entry',
  L8: 'a stream that outlives its membership',
  L9: 'clients that manage what is not theirs',
  L10: 'evidence by key without a rate limit',
  L11: 'passwords on the command line',
  L12: 'mentions and links in chat messages',
  L13: 'parallel guesses beyond the limit',
  L14: 'reset requests that tell accounts apart',
  L15: 'request lines two readers may read differently',
  L16: 'identities chosen by an import',
  L17: 'secrets in plain environment',
  L18: 'sealed values, redirects and tokens without a purpose',
}

const ID = /\b(?:[BF][0-9]{2}|[HML][0-9]{1,2})\b/g

/** The ids in the titles of the tests of a file. */
export function idsIn(source: string): Set<string> {
  return new Set(
    titlesIn(source)
      .flatMap((title) => title.match(ID) ?? [])
      .filter((id) => Object.hasOwn(cases, id)),
  )
}

/** Per id the files with a test whose title names it, in order. */
export function heldBy(): Map<string, string[]> {
  const held = new Map<string, string[]>()
  for (const file of sourcesBelow('test').filter((name) => /\.test\.tsx?$/.test(name))) {
    for (const id of idsIn(readFileSync(join(root, file), 'utf8'))) held.set(id, [...(held.get(id) ?? []), file])
  }
  return held
}

/** The rows of docs/assurance.md: per id the files it names. */
export function rowsOf(page: string): Map<string, string[]> {
  const rows = [...page.matchAll(/^\| (\w\d{1,2}) \|[^|]*\| (.*) \|$/gm)]
  return new Map(
    rows.map(([, id = '', files = '']) => [id, [...files.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)]),
  )
}

/** The text of docs/assurance.md, from the titles as they are now. */
function assuranceText(): string {
  const held = heldBy()
  const rows = (letters: string) => {
    const ids = Object.keys(cases).filter((id) => letters.includes(id[0] ?? '') && held.has(id))
    return ids.map((id) => `| ${id} | ${cases[id]} | ${(held.get(id) ?? []).map((file) => `\`${file}\``).join(', ')} |`)
  }
  const table = (letters: string) => ['| Id | Case | Held by |', '|---|---|---|', ...rows(letters)].join('\n')
  return `# Assurance

What the product must survive, and the tests that show it: each names its ids in its title, and fails when the protection is taken away. This page is made by \`make assurance\` and checked by \`test/assurance.test.ts\`.

## Abuse from outside

${table('B')}

## Faults of the machinery

${table('F')}

## Findings of the review

${table('HML')}

${promisesText()}

## Longer than the suite

The suite takes 14 minutes on two fast cores, and half an hour on slow ones. What takes longer runs by hand or at night, with a short form in the suite:

| Command | What it does | Short form |
|---|---|---|
${longer.map((row) => `| ${row.join(' | ')} |`).join('\n')}
`
}

/** Commands, what they do, and the test that does it in short. */
const longer = [
  [
    '`make soak`',
    'two hours of pings, deaths, alerts and packs with a fault every five minutes out of all there are, on three brokers and two database servers of its own; then the books; `make soak -- --minutes 10 --seed 7`',
    '`test/faults/soak.test.ts`',
  ],
  [
    '`make cluster-faults`',
    'each fault of brokers and database servers once, with its gap, and the table of docs/scale.md',
    '`test/faults/broker-cluster.test.ts`, `test/faults/fail-over.test.ts`',
  ],
  ['`make backlog`', '200,000 messages in the ping queues, and alerts meanwhile', '`test/faults/backlog.test.ts`'],
  ['`make fuzz`, `make fuzz-presentations`', '10,000 mutated requests and presentations', '`test/fuzz/`'],
] as const

export const assurancePage = join(root, 'docs/assurance.md')

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(assurancePage, assuranceText())
  process.stdout.write(`wrote ${relative(root, assurancePage)}\n`)
}
