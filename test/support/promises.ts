// biome-ignore-all lint/suspicious/noTemplateCurlyInString: titles stand here as they are written.

/** A test that holds a promise: its file, and what its title begins with. */
type Holder = readonly [file: string, title: string]

/**
 * What the product promises beyond single cases, in one sentence each, by what it is about, with the tests that fail
 * when it does not hold. docs/assurance.md shows it.
 */
export const promises: Readonly<Record<string, Readonly<Record<string, readonly Holder[]>>>> = {
  'One request never stops the others': {
    'The largest legal input of every route leaves other tenants’ pings within 100 ms': [
      ['test/fuzz/every-route.test.ts', 'the largest input of every route holds the event loop'],
    ],
    'Parsing of mail, PDFs and large objects runs beside the loop, in a bounded pool': [
      ['test/shared/platform/threads.test.ts', 'what runs in a thread does not hold up the event loop'],
      ['test/shared/platform/threads.test.ts', 'more than may wait are refused at once'],
      ['test/ingress/tenants.test.ts', 'H1: the page of a mail of line ends'],
      ['test/ingress/tenants.test.ts', 'H2: a pack is drawn'],
      ['test/ingress/tenants.test.ts', 'H3: an object of 90,000 members'],
      ['test/ingress/tenants.test.ts', 'an import of 5,000 checks'],
    ],
    'Texts, lists and counts are bounded': [
      ['test/ingress/monitoring/hostile-bodies.test.ts', 'H5: a description of 10,000 characters'],
      ['test/ingress/monitoring/hostile-bodies.test.ts', 'H6: at most 1,000 integrations'],
    ],
    'A turn of the loop over 100 ms is a metric and a log line that name the route': [
      ['test/ingress/turn-watch.test.ts', 'a turn of more than 100 ms is counted and logged with the route'],
    ],
    'Only a registry’s own faults open its breaker, for who asked': [
      ['test/workers/pack-composer/registries.test.ts', 'H4: handles that no header can carry'],
      ['test/workers/pack-composer/registries.test.ts', 'H4: a gateway that is away'],
    ],
    'Idle connections, slow readers, watchers and large mails hold bounded memory, and give it back': [
      ['test/faults/memory.test.ts', 'B20 10,000 idle connections'],
      ['test/faults/memory.test.ts', 'B20 clients that ask for much and read nothing'],
      ['test/faults/memory.test.ts', 'B20 people who watch pages'],
      ['test/faults/memory.test.ts', 'B33 a mail of 32 MB'],
      ['test/ingress/ping/slow-clients.test.ts', 'B20 M7 who does not read an answer is cut'],
    ],
    'Every listener (HTTP, SMTP, metrics) limits the connections of an address; an IPv6 /64 is one': [
      ['test/ingress/ping/slow-clients.test.ts', 'B20 B24 M7 connections of one address'],
      ['test/ingress/mail/smtp-limits.test.ts', 'B33 M6 connections of one address'],
      ['test/shared/platform/metrics-port.test.ts', 'B20, B24: connections of one address'],
      ['test/shared/platform/connection-cap.test.ts', 'B24: an IPv6 network of 64 bits is one address'],
    ],
  },
  'No false alarm, no false silence': {
    'A ping that was in time wins, however long its confirm takes and at whichever listener': [
      ['test/faults/slow-confirms.test.ts', 'a ping that was in time wins'],
      ['test/shared/monitoring/beats/store.test.ts', 'a sweep goes up to what every listener has settled'],
      ['test/shared/monitoring/beats/store.test.ts', 'a listener that falls silent holds the sweep back'],
    ],
    'The number of ping queues changes while pings flow, and none is lost, doubled or taken for late': [
      ['test/faults/other-shards.test.ts', 'pings flow through two listeners while one queue becomes four'],
      ['test/faults/other-shards.test.ts', 'what a listener that heard of no change sends'],
      ['test/faults/generations.test.ts', 'while one former queue is silent, what follows is not taken'],
      ['test/shared/contracts/ping-generations.test.ts', 'a shard is settled only when every queue answered'],
    ],
    'A queue that nobody takes from is a reason not to be ready, a metric and a line of the doctor': [
      ['test/faults/other-shards.test.ts', 'a queue that was left behind with messages in it'],
    ],
    'A wrong clock of a listener moves no deadline, and is a reason not to be ready': [
      ['test/faults/clocks.test.ts', 'F19: pings through two listeners'],
      ['test/shared/platform/clock.test.ts', 'measurements a second apart make it unsteady'],
    ],
    'Every operation of the broker has a deadline': [
      ['test/faults/readiness.test.ts', 'a consumer that the broker does not open'],
      ['test/faults/half-open.test.ts', 'F16: servers that fall silent'],
    ],
    'Readiness follows the work: pings in hand, sweeps that come to their end': [
      ['test/faults/readiness.test.ts', 'workers are ready while their work goes on'],
    ],
    'No accepted ping is given up for a fault of our own': [
      ['test/faults/our-own-fault.test.ts', 'accepted pings wait while a column is missing'],
      ['test/faults/our-own-fault.test.ts', 'a pooler that forgets prepared statements'],
      ['test/faults/our-own-fault.test.ts', 'what the data seems to be at fault for'],
    ],
    'A schema that does not match is a reason not to be ready': [
      ['test/ingress/middleware/request-safety.test.ts', 'an ingress whose schema is not current'],
    ],
    'What was dead-lettered by a fault of our own is replayed by one command': [
      ['test/faults/our-own-fault.test.ts', 'one command replays what was given up'],
    ],
    'Pings of known checks are taken while the database is away': [
      ['test/faults/database-away.test.ts', 'a database that is away for a minute'],
    ],
    'One integration that cannot be opened silences none of its neighbours': [
      ['test/workers/notifier/forgotten.test.ts', 'an integration that cannot be opened'],
    ],
    'A later message of a check never overtakes an earlier one, and limits hold against parallel sends': [
      ['test/workers/alerter/alerter.test.ts', 'two alerters tell of thousands of changes once each'],
      ['test/workers/notifier/storm.test.ts', 'a month that has one place left gives it to one of ten'],
    ],
  },
  'Nothing said that is not so': {
    'The date of a ping has its true microseconds': [
      ['test/ingress/monitoring/pings-and-flips.test.ts', 'the date of a ping has its true microseconds'],
    ],
    'U+0000 and values out of range are the caller’s mistake everywhere': [
      ['test/ingress/unstorable-values.test.ts', 'L1 GET ${path} is 400'],
      ['test/ingress/unstorable-values.test.ts', 'L1 a value that only the database refuses'],
    ],
    'A badge address with a wrong ending is 404 with an empty body': [
      ['test/ingress/monitoring/badges.test.ts', 'an address of a badge with a wrong ending'],
    ],
    'A document that holds neither checks nor integrations is refused': [
      ['test/ingress/monitoring/config-document.test.ts', 'a document that holds neither checks nor integrations'],
    ],
    'The ping key shows its last use': [
      ['test/ingress/ping/owners-view.test.ts', 'the ping key shows when a ping by slug used it last'],
    ],
    'A limited or ignored ping is visible to the owner, with its reason': [
      ['test/ingress/ping/owners-view.test.ts', 'L6, B25: pings that were not logged'],
      ['test/ingress/ping/owners-view.test.ts', 'an ignored ping says on the page why'],
    ],
    'There is a quota by default, and its owners are told once': [
      ['test/ingress/ping/owners-view.test.ts', 'L6, B27: a leaked ping key'],
    ],
    'make up prints the project id, and lines that work pasted at once': [
      ['test/examples/documentation.test.ts', 'the lines that `make up` prints work'],
    ],
    'Every code block of README and docs works as printed': [
      ['test/examples/documentation.test.ts', 'every example of ${page} works'],
      ['test/examples/documentation.test.ts', 'what is said to be run or compared elsewhere'],
    ],
    'An unknown suite, command, kind or option is one line that lists what there is, exit status 2': [
      ['test/shared/platform/command-line.test.ts', '${[file, ...args].join('],
      ['test/ingress/admin/admin.test.ts', '${what} is a mistake of usage'],
    ],
    'The operator lists, changes and deletes integrations': [
      ['test/ingress/admin/admin.test.ts', 'integrations are listed, changed'],
    ],
    'A user made without an organisation owns nobody else’s': [
      ['test/ingress/admin/admin.test.ts', 'a user made without an organisation'],
    ],
    'Items of the sandbox inbox hold what was signed as payload, deliveries beside it': [
      ['test/ingress/risk/webhooks.test.ts', 'the sandbox signs and stores'],
    ],
    'from and to of /v1/usage take dates and instants': [
      ['test/ingress/risk/packs.test.ts', 'B23, L1: usage is asked for by days or by instants'],
    ],
    'Local names and ports of our own services are refused when an address is saved': [
      ['test/shared/platform/target-policy.test.ts', 'L5: the name in'],
      ['test/shared/platform/target-policy.test.ts', 'L5: an integration may use a port below 1024'],
      ['test/ingress/monitoring/integrations.test.ts', '${url} is no address for a webhook'],
      ['test/ingress/risk/webhooks.test.ts', 'addresses that may not be reached are refused when saved'],
    ],
    'No virtual host is deleted while tests run, and a broker that stops answering is started anew': [
      ['test/stack/services.test.ts', 'a virtual host that is given back is empty when the next one gets it'],
      ['test/stack/keep-broker.test.ts', 'a node that stops answering'],
    ],
    'A test that hangs says where': [['test/stack/watch-progress.test.ts', 'a test that hangs is named']],
  },
  'An open page shows what is so': {
    'An open page changes row by row and keeps what is ticked and focused': [
      ['test/e2e/browser/truth.test.ts', 'a row changes while a box in it is ticked'],
    ],
    'A page that has lost the service says since when; every page says when pings are refused': [
      ['test/e2e/browser/truth.test.ts', 'a page that has lost the service says since when'],
      ['test/e2e/browser/truth.test.ts', 'every page says when pings are being refused'],
      ['test/stack/status.test.ts', 'make up prints where mails can be read'],
    ],
    'Uptime counts from the first ping and is never rounded up over an outage': [
      ['test/ingress/web/snippets.test.ts', 'uptime is a share of what is known'],
    ],
    'An import names what it would do, takes a dropped file, and refuses what is no export': [
      ['test/e2e/browser/truth.test.ts', 'an import says what it would do'],
      ['test/e2e/browser/truth.test.ts', 'a file is dropped on the import'],
    ],
    'The lines that a check offers count for it, and an ignored ping says why': [
      ['test/e2e/browser/truth.test.ts', 'the lines that a check offers are ones that count'],
    ],
    'Loading a page anew sends nothing again; without scripts a page asks before something is lost': [
      ['test/e2e/browser/truth.test.ts', 'what was sent is not sent again'],
      ['test/e2e/browser/truth.test.ts', 'without scripts nothing is deleted'],
    ],
    'Copying works without https, and switching in a row leaves the page where it is': [
      ['test/e2e/browser/truth.test.ts', 'without https copying still works'],
      ['test/e2e/browser/truth.test.ts', 'switching an integration in a row'],
      ['test/e2e/browser/truth.test.ts', 'an integration is switched in its row'],
    ],
    'An endpoint that fails is never shown as well, and a replay of nothing says so': [
      ['test/e2e/browser/deliveries.test.ts', 'an endpoint that fails is never shown as well'],
    ],
    'An integration shows what became of its last messages, and one that fails is marked where it is chosen': [
      ['test/ingress/web/integration-list.test.ts', 'a row shows what became of the last twenty messages'],
      ['test/ingress/web/integration-list.test.ts', 'an integration that fails is marked'],
    ],
    'A check that is down says since when, why, and who was told': [
      ['test/e2e/browser/check-page.test.ts', 'a check that is down says since when, why'],
    ],
  },
  'People read words, and find their way': {
    'No page is scrolled sideways from 360 to 1920 px, and none has a finding of axe, in both themes': [
      ['test/e2e/browser/accessible.test.ts', 'the page "'],
    ],
    'A form says everything that is wrong at once, in words, and leads to the first of it': [
      ['test/ingress/web/checks.test.ts', 'a form with a mistake comes back'],
      ['test/e2e/browser/first-run.test.ts', 'from the set-up link to the first check'],
      ['test/ingress/web/alerting.test.ts', 'everything that is wrong with a policy'],
    ],
    'A form shows what a schedule means, and what a webhook would send, before it is saved': [
      ['test/e2e/browser/check-page.test.ts', 'while a schedule is typed'],
      ['test/ingress/web/integration-list.test.ts', 'the form of a webhook shows what would be sent'],
    ],
    'Times stand in UTC, the zone of the check or that of the browser': [
      ['test/e2e/browser/check-page.test.ts', 'times are shown by the clock of'],
    ],
    'Filters count what fits, several checks are changed with their number said, and that is undone': [
      ['test/e2e/browser/list-tools.test.ts', 'filters count what fits'],
      ['test/e2e/browser/list-tools.test.ts', 'what was done to several checks'],
    ],
    'The audit log says every action in words, of a changed check what changed, and is filtered': [
      ['test/ingress/web/audit.test.ts', 'the log says'],
      ['test/ingress/web/audit.test.ts', 'an entry says who did what'],
      ['test/ingress/web/audit.test.ts', 'the log is filtered'],
    ],
    'A pack and its PDF say codes in words, and the sandbox band is read out once': [
      ['test/shared/risk/packs/pdf.test.ts', 'codes of sources, classes and reasons'],
      ['test/shared/risk/packs/pdf.test.ts', 'the band of a sandbox pack'],
    ],
    'A status page has plain words, groups, notes of people and a feed, and gives nothing away': [
      ['test/ingress/web/public-words.test.ts', 'strangers are told plain words'],
      ['test/ingress/web/status-page.test.ts', 'checks stand under their first tag'],
      ['test/ingress/web/status-page.test.ts', 'a note is read by everybody'],
      ['test/ingress/web/status-page.test.ts', 'the feed tells of notes and outages'],
    ],
    'A logo is a picture by its bytes, bounded, and opens as nothing else; SVG is refused': [
      ['test/ingress/web/status-logo.test.ts', 'a logo of ${type} is shown'],
      ['test/ingress/web/status-logo.test.ts', '${what} is no logo'],
      ['test/ingress/web/status-logo.test.ts', 'a logo is bounded'],
    ],
    'What was typed when a session ended is sent after signing in again, and never for another site': [
      ['test/e2e/browser/kept-form.test.ts', 'what was typed when the session ended'],
      ['test/e2e/browser/kept-form.test.ts', 'a form of another site is kept for nobody'],
    ],
    'A first visit of the list weighs less than 150 kB, the next less than 20 kB, and none leaves this host': [
      ['test/e2e/browser/list-tools.test.ts', 'a first visit to the list weighs'],
    ],
  },
  'Beyond one machine, and over hours': {
    'Under load and faults every accepted ping is stored once, every change told once, every pack delivered, the log one':
      [['test/faults/soak.test.ts', 'F01, F16: a soak of two faults']],
    'A killed or frozen broker of three stops no listener': [
      ['test/faults/broker-cluster.test.ts', 'F02, F16: of three nodes one is killed'],
    ],
    'A backlog drains to the last ping, and other alerts do not wait for it': [
      ['test/faults/backlog.test.ts', 'F12: queues full of pings drain'],
    ],
    'A server whose disk is full loses nothing that was acknowledged': [
      ['test/faults/disk-full.test.ts', 'F18: a database server that ran out'],
      ['test/faults/disk-full.test.ts', 'F18: a broker that ran out'],
    ],
  },
  'Second lines of defence': {
    'The login of the product owns no table and sees one tenant at a time': [
      ['test/shared/platform/row-security.test.ts', 'B08: a tenant'],
      ['test/stack/compose.test.ts', 'M4: only the migrations'],
    ],
    'Unsafe settings do not start beyond the loopback, and make up listens there': [
      ['test/shared/platform/unsafe-settings.test.ts', 'M11: ${setting} of ${value} is refused'],
      ['test/stack/local-env.test.ts', 'M11: make up listens on this machine only'],
    ],
    'Install scripts, new releases, licences, images and bounds of containers are under control': [
      ['test/stack/release-files.test.ts', 'M12: only install scripts that were looked at run'],
      ['test/stack/release-files.test.ts', 'M12: the bill of materials'],
      ['test/stack/compose.test.ts', 'M12: every container has bounds'],
      ['test/stack/compose.test.ts', 'M12: stack/images.env names'],
    ],
    'Sign-ins and changes through the API are in the audit log': [
      ['test/ingress/web/sign-in.test.ts', 'L7'],
      ['test/ingress/monitoring/integrations.test.ts', 'L7: a change by a key'],
    ],
    'A sealed value opens for its purpose alone, and those of before are bound by one command': [
      ['test/shared/platform/secrets.test.ts', 'L18'],
      ['test/ingress/admin/reseal.test.ts', 'L18: values of the earlier format'],
    ],
    'Secrets come by standard input, not by the command line': [
      ['test/ingress/admin/command-line.test.ts', 'L11: a password'],
    ],
  },
}

const TITLE = /\btest(?:\.\w+)*\(\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g

/** The titles of the tests of a file, as they are written. */
export function titlesIn(source: string): string[] {
  return [...source.matchAll(TITLE)].map(([, , title = '']) => title)
}

/** The section of docs/assurance.md. */
export function promisesText(): string {
  const filesOf = (holders: readonly Holder[]) => [...new Set(holders.map(([file]) => `\`${file}\``))].join(', ')
  const tables = Object.entries(promises).map(([about, sentences]) => {
    const rows = Object.entries(sentences).map(([sentence, holders]) => `| ${sentence} | ${filesOf(holders)} |`)
    return [`### ${about}`, '', '| Promise | Held by |', '|---|---|', ...rows].join('\n')
  })
  return ['## Promises', ...tables].join('\n\n')
}
