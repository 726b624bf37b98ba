import { escapeXml } from '#shared/monitoring/badges/badge.ts'
import { uniqueKey } from '#shared/monitoring/checks/slug.ts'
import { type Micros, toIsoSeconds, toSeconds } from '#shared/time.ts'
import type { PublicHistory } from './public-history.ts'

/** Feed readers keep earlier entries. */
const MAX_ENTRIES = 50

interface Entry {
  id: string
  title: string
  text: string
  at: Micros
  updatedAt: Micros
}

/**
 * Renders notes and outages as Atom (RFC 4287), newest change first.
 * @param url public address of the page, the base of entry ids
 */
export function statusFeed(title: string, url: string, { now, shown, notes }: PublicHistory): string {
  const entries: Entry[] = [
    ...notes.map((note) => ({
      id: `urn:uuid:${note.uuid}`,
      title: note.endedAt === null ? note.title : `${note.title}: over`,
      text: note.text,
      at: note.at,
      updatedAt: note.endedAt ?? note.at,
    })),
    ...shown.flatMap(({ check, outages }) =>
      outages.map(({ from, until }) => ({
        id: `${url}#${uniqueKey(check.uuid)}-${Math.floor(toSeconds(from))}`,
        title: `${check.name || 'unnamed'} ${until === null ? 'is down' : 'was down'}`,
        text: `Since ${shownTime(from)}${until === null ? '.' : `, until ${shownTime(until)}.`}`,
        at: from,
        updatedAt: until ?? from,
      })),
    ),
  ]
  const newest = entries.toSorted((a, b) => b.updatedAt - a.updatedAt).slice(0, MAX_ENTRIES)
  return `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<title>${escapeXml(title)}</title>
<id>${escapeXml(url)}</id>
<link href="${escapeXml(url)}"/>
<link rel="self" href="${escapeXml(`${url}/feed.atom`)}"/>
<updated>${toIsoSeconds(newest[0]?.updatedAt ?? now)}</updated>
<author><name>${escapeXml(title)}</name></author>
${newest.map((entry) => entryText(entry, url)).join('\n')}
</feed>
`
}

function entryText({ id, title, text, at, updatedAt }: Entry, url: string): string {
  return `<entry>
<id>${escapeXml(id)}</id>
<title>${escapeXml(title)}</title>
<link href="${escapeXml(url)}"/>
<published>${toIsoSeconds(at)}</published>
<updated>${toIsoSeconds(updatedAt)}</updated>
<content type="text">${escapeXml(text)}</content>
</entry>`
}

function shownTime(at: Micros): string {
  return `${toIsoSeconds(at).slice(0, 19).replace('T', ' ')} UTC`
}
